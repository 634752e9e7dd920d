"""The list of requests, and one request: as it came, as we understood it, as it was sent."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import msgspec
from markupsafe import Markup

from ...errors import TurnoutError
from ...history.log import History
from ...model import Compaction, ModelTurn, Settled, SystemTurn, ToolCall, UserTurn, block_text
from ...targets.inbound import read_request
from ...targets.request import render
from ...targets.target import Target
from ...wire.check import check
from ...wire.request import WireRequest
from ..gateway.names import origin_of
from ..gateway.routes import FORMATS, Protocol
from ..shared.clean_text import one_line, printable
from ..shared.conversation_html.masked_json import json_html, masked_value, pretty_json, without_sealed
from ..shared.conversation_html.rows import provider_colour
from .as_target import call_links, naive_refusals
from .request_records import GROUPS, RequestFilter, RequestRecords

PER_PAGE = 50
KEY_HEADER = "@@header-of-the-key@@"
"""Stands for the header of the key until secrets were taken out of the page: it looks like one."""
AROUND = 120
"""Bytes that are shown on both sides of the place where two requests part."""
SUMMED = ("requests", "cost", "tokens", "repairs", "errors", "failovers")


# The list


def filter_of(query: dict[str, str]) -> RequestFilter:
    return RequestFilter(
        errors=query.get("errors", "") == "1",
        repairs=query.get("repairs", "") == "1",
        client=query.get("client", ""),
        provider=query.get("provider", ""),
        words=query.get("words", "").strip()[:200],
        conversation=query.get("conversation", ""),
    )


def list_values(records: RequestRecords, query: dict[str, str]) -> dict[str, Any]:
    """What the list shows for a query."""
    wanted, group = filter_of(query), query.get("group", "")
    before = query.get("before", "")
    number = int(before) if before.isdecimal() and len(before) < 15 else None
    rows = records.page(wanted, PER_PAGE + 1, number)
    shown = rows[:PER_PAGE]
    groups = records.groups(wanted, group) if group in GROUPS else None
    return {
        "rows": [{**row, "colour": provider_colour(str(row["target"]).partition(":")[0])} for row in shown],
        "next_before": shown[-1]["number"] if len(rows) > PER_PAGE else 0,
        "shown": sums_of(shown),
        "groups": groups,
        "totals": {name: sum(row[name] or 0 for row in groups) for name in SUMMED} if groups else None,
        "group": group,
        "group_names": list(GROUPS),
        "clients": records.names("client"),
        "providers": records.names("provider"),
        "wanted": wanted,
        "is_filtered": wanted != RequestFilter() or number is not None,
        "is_first_page": number is None,
    }


def sums_of(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The totals of these rows."""
    return {name: sum(row[name] or 0 for row in rows) for name in ("cost", "tokens", "repairs")}


# One request


def request_values(
    records: RequestRecords, id: str, find_target: Callable[[str], Target]
) -> dict[str, Any] | None:
    """What the page of one request shows; None where there is no such request."""
    found = records.request(id)
    if found is None:
        return None
    record, bodies = found
    values: dict[str, Any] = {
        "record": record,
        "colour": provider_colour(str(record["target"]).partition(":")[0]),
        "has_bodies": bodies is not None,
        "inbound": "",
        "outbound": "",
        "canonical": None,
        "calls": {},
        "problems": None,
        "refusals": [],
        "curl": "",
        "key_header": "",
        "prefix": None,
        "why_not": "",
    }
    if bodies is None:
        return values
    received, sent = _parsed_body(bodies.get("received", "")), _parsed_body(bodies.get("sent", ""))
    history, rendered, why = _read_again(record, bodies.get("received", ""), find_target)
    links = call_links(rendered.ids) if rendered is not None else {}
    links |= _raw_links(history)
    target = _target_or_none(record["target"], find_target)
    values |= {
        "inbound": Markup(json_html(_shown_body(received, bodies.get("received", "")), links)),
        "outbound": Markup(json_html(_shown_body(sent, bodies.get("sent", "")), links)),
        "canonical": canonical_rows(history, rendered) if history is not None else None,
        "why_not": why,
        "curl": curl_command(target, rendered, sent) if target is not None and sent is not None else "",
        "key_header": key_header(target) if target is not None else "",
        "prefix": _prefix_values(records, record, bodies.get("sent", "")),
    }
    if target is not None and isinstance(sent, dict):
        values["problems"] = check(target.provider.name, sent, model=target.model, warnings=True)
        values["refusals"] = naive_refusals(history, target) if history is not None else []
    return values


def _parsed_body(text: str) -> Any:
    """The body as a value; None where it is not JSON, or was cut off when it was kept."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def masked_body(text: str) -> str:
    """A body as it was kept, without the private state of a provider."""
    value = _parsed_body(text)
    return without_sealed(text) if value is None else msgspec.json.encode(masked_value(value)).decode()


def _shown_body(value: Any, text: str) -> str:
    if value is not None:
        return pretty_json(value)
    return printable(without_sealed(text))


def _read_again(
    record: dict[str, Any], received: str, find_target: Callable[[str], Target]
) -> tuple[History | None, WireRequest | None, str]:
    """The conversation of a body, and the request that is made of it now."""
    protocol: Protocol = record["protocol"]
    try:
        origin = origin_of(record["asked"], protocol)
        read = read_request(received.encode(), FORMATS[protocol], origin)
    except (TurnoutError, KeyError, ValueError) as error:
        return None, None, one_line(str(error), 300)
    try:
        return read.history, render(read.history, find_target(record["target"]), options=read.options), ""
    except TurnoutError as error:
        return read.history, None, one_line(str(error), 300)


def _target_or_none(name: str, find_target: Callable[[str], Target]) -> Target | None:
    try:
        return find_target(name) if name else None
    except TurnoutError:
        return None


def _raw_links(history: History | None) -> dict[str, str]:
    if history is None:
        return {}
    return {item.call.raw_id: f"call-{item.call.id}" for item in history.ledger if len(item.call.raw_id) >= 3}


def canonical_rows(history: History, rendered: WireRequest | None) -> list[dict[str, Any]]:
    """The conversation as we keep it: one line a block, each call with its outcome."""
    theirs = rendered.ids if rendered is not None else {}
    rows: list[dict[str, Any]] = []
    for entry in history.standing:
        match entry:
            case UserTurn() | SystemTurn() | ModelTurn():
                who = str(entry.origin) if isinstance(entry, ModelTurn) else type(entry).__name__[:-4].lower()
                rows += [_block_row(history, block, who, theirs) for block in entry.blocks]
            case Compaction(_, summary):
                rows.append({"who": "summary", "text": one_line(summary, 300), "call": ""})
            case Settled():
                continue
    return rows[-400:]


def _block_row(history: History, block: Any, who: str, theirs: dict[str, str]) -> dict[str, Any]:
    if not isinstance(block, ToolCall):
        return {"who": who, "text": one_line(without_sealed(block_text(block)[:2000]), 400), "call": ""}
    found = history.ledger.get(block.id)
    outcome = found.outcome if found is not None else None
    return {
        "who": who,
        "call": block.id,
        "raw_id": block.raw_id,
        "sent_id": theirs.get(block.id, ""),
        "text": one_line(f"{block.name} {pretty_json(block.arguments)}", 400),
        "status": found.status if found is not None else "pending",
        "synthetic": outcome.reason if outcome is not None and outcome.synthetic else "",
        "result": one_line(without_sealed(outcome.text[:2000]), 300) if outcome is not None else "",
    }


def curl_command(target: Target, rendered: WireRequest | None, sent: Any) -> str:
    """The request for a shell. The key is the name of its variable, never its value."""
    url = rendered.url if rendered is not None else target.provider.base_url
    headers = dict(rendered.headers) if rendered is not None else {"content-type": "application/json"}
    words = ["curl", shlex.quote(url)]
    names = {"authorization", "x-api-key", "x-goog-api-key", "api-key"}
    words += [
        f"-H {shlex.quote(f'{name}: {value}')}"
        for name, value in headers.items()
        if name.lower() not in names
    ]
    words.append(f"-H {KEY_HEADER}")
    words.append(f"--data-binary {shlex.quote(msgspec.json.encode(masked_value(sent)).decode())}")
    return " \\\n  ".join(words)


def key_header(target: Target) -> str:
    """The header of the key, with the name of its variable."""
    variable = (target.provider.key_variables or ("API_KEY",))[0]
    name = target.provider.auth
    return f'"{name}: ${variable}"' if name.endswith("-key") else f'"authorization: Bearer ${variable}"'


# Why the cache missed


def _prefix_values(records: RequestRecords, record: dict[str, Any], sent: str) -> dict[str, Any] | None:
    before = records.previous_sent(record)
    if before is None or not sent:
        return None
    one, other = before.body.encode(), sent.encode()
    at = common_prefix(one, other)
    return {
        "id": before.id,
        "target": before.target,
        "is_same_target": before.target == record["target"],
        "at": at,
        "size": len(other),
        "share": at / max(1, len(other)),
        "is_whole": at >= len(one.rstrip(b"]}")) - 1,
        "before": _text_around(one, at),
        "after": _text_around(other, at),
    }


def common_prefix(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _text_around(body: bytes, at: int) -> tuple[str, str]:
    parts = body[max(0, at - AROUND) : at], body[at : at + AROUND]
    first, last = (printable(without_sealed(part.decode("utf-8", "replace"))) for part in parts)
    return first, last
