"""The addresses below `/requests`: the list, one request, and its report as JSON."""

from __future__ import annotations

from html import escape

import msgspec

from ...errors import UsageError
from ...world.config import Config
from ..gateway.values import Request, Response, json_response
from . import request_pages
from .drawing import HEADERS, draw_page, page_response
from .frame import PageFrame, address_with_query
from .request_records import RequestRecords


class RequestAddresses:
    """Answers what is asked below `/requests`."""

    def __init__(self, frame: PageFrame, records: RequestRecords, config: Config) -> None:
        self._frame = frame
        self._records = records
        self._config = config

    def draw_list(self, request: Request) -> Response:
        values = request_pages.list_values(self._records, request.query)
        place = address_with_query("/requests", request.query)
        shared = {"here": "requests", "title": "Requests", "place": place, "query": request.query}
        if "part" in request.query:
            return self._frame.live_part(request, "requests_rows.html", **values, **shared)
        return self._frame.page("requests.html", **values, **shared)

    def draw_below(self, request: Request) -> Response:
        """The page of one request, or its report."""
        id = request.path.removeprefix("/requests/")
        if id.endswith(".json"):
            return self._report(id.removesuffix(".json"))
        values = request_pages.request_values(self._records, id, self._config.target)
        if values is None:
            raise UsageError(f"there is no request {id[:100]!r}; open /requests")
        page = self._frame.without_secrets(
            draw_page("request.html", here="requests", title=f"Request {id[:40]}", **values)
        )
        return page_response(page.replace(request_pages.KEY_HEADER, escape(values["key_header"])))

    def _report(self, id: str) -> Response:
        found = self._records.request(id)
        if found is None:
            message = f"there is no request {id[:100]!r}; x-turnout-request names one"
            return json_response({"error": {"message": message, "type": "gateway_error", "code": 404}}, 404)
        record, bodies = found
        record.pop("number")
        if bodies:
            record["bodies"] = {name: request_pages.masked_body(text) for name, text in bodies.items()}
        report = msgspec.json.encode(record).decode()
        headers = {**HEADERS, "content-type": "application/json"}
        return Response(200, headers, self._frame.without_secrets(report).encode())
