"""One request from its checks to its record. Values in, values out: the server around it has the sockets."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import msgspec

from ...errors import ProviderError, TurnoutError, UsageError
from ...model import Origin
from ...session.routing import Breaker
from ...store import open_store
from ...targets.count import count
from ...targets.error_body import error_body
from ...targets.inbound import read_request
from ...targets.target import Target
from ...telemetry.counts import Telemetry
from ...wire.failure.error_words import refusal_envelope
from ...world.config import Config
from ...world.keys import Keys
from ...world.ports import Transport
from ...world.secrets import Secrets
from ...world.shared_http import SharedHttp
from ...world.world import World
from .access import AccessList, ClientAccess, period_start
from .conversation import conversation_key
from .guard import OPEN_PATHS, Refusal, check_content, check_form, check_host, check_origin
from .histories import HistoryCache
from .http_connection import error_response
from .inbound import open_inbound
from .keeping import ConversationKeeper
from .memory import GatewayMemory
from .metrics import GatewayMetrics
from .names import listed_names, maker_of, model_entry, model_list, origin_of, targets_of
from .record import RequestRecord, agent_of, log_line
from .reply import GatewayReply, ReplyServices
from .routes import FORMATS, GatewayRoute, find_route, protocol_of
from .sealing import Sealer
from .shared_state import GatewayState, SharedTables
from .values import Handler, Request, Response, json_response, text_response

WELCOME = "turnout gateway: point a client here; `turnout serve --for CLIENT` shows how.\n"
MAX_KEPT_BODY = 1024 * 1024
"""Bytes of a body that --keep-bodies keeps."""


class Gateway:
    """Answers requests of four protocols with any configured provider."""

    def __init__(
        self,
        config: Config,
        *,
        token: str,
        sealer: Sealer,
        memory: GatewayMemory,
        shared: SharedTables | None = None,
        transport: Transport | None = None,
        hosts: tuple[str, ...] = (),
        keep_bodies: bool = False,
        log: Callable[[str], None] | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        settings = config.settings.gateway
        environment = dict(config.environment)  # os.environ decodes its values at every look
        self.config = config
        self.settings = settings
        self.memory = memory
        self.state = GatewayState(memory, shared, report=self._log_line)
        self.metrics = GatewayMetrics()
        self.histories = HistoryCache(settings.cache_mib * 1024 * 1024)
        self.telemetry = Telemetry()
        self._names = frozenset(name.lower() for name in (*settings.hosts, *hosts))
        self._access = AccessList(token, settings, environment)
        self._log = log
        self._keep_bodies = keep_bodies
        self._wall_clock = wall_clock
        self._targets: dict[str, Target] = {}
        self._routes: dict[tuple[str, str], Handler] = {}
        self._form_paths: set[str] = set()
        self._open_paths = set(OPEN_PATHS)
        self.sign_in: Callable[[Request], bool] | None = None
        self.refused_page: Callable[[Request, Refusal], Response | None] | None = None
        self.on_close: list[Callable[[], None]] = []
        keys = Keys(environment, config.keys())
        self._secrets = Secrets(environment, keys.secrets)
        self._services = ReplyServices(
            sealer=sealer,
            state=self.state,
            histories=self.histories,
            keys=keys,
            telemetry=self.telemetry,
            breakers=dict[Origin, Breaker](),
            world=World(
                transport=transport if transport is not None else SharedHttp(),
                environment=environment,
                keys=config.keys(),
            ),
            finish=self._record_reply,
            keeper=ConversationKeeper(lambda: open_store(environment)) if settings.keep else None,
        )
        self._add_own_routes()

    async def share_usage(self) -> None:
        """Tell the other gateways what keys have used here, and learn what they have used there."""
        if self.state.is_shared:
            periods = self._access.budget_periods(self._wall_clock())
            found = await self.state.share_usage(periods)
            for (name, start), used in zip(periods, found or (), strict=False):
                self._access.set_spent(name, start, used.tokens, used.cost)

    async def end(self) -> None:
        """Tell the other gateways what they do not know yet, and close everything."""
        await self.state.close()
        self.close()

    def close(self) -> None:
        """Write what waits, and close the files."""
        self.memory.close()
        if self._services.keeper is not None:
            self._services.keeper.close()

    # Routes

    def add_route(
        self, method: str, path: str, handler: Handler, *, form: bool = False, is_open: bool = False
    ) -> None:
        """Answer a path, or all paths below it where it ends with `/*`.

        `form`: the body is a form of a page, not JSON. `is_open`: no token is needed.
        """
        self._routes[method, path] = handler
        if form:
            self._form_paths.add(path)
        if is_open:
            self._open_paths.add(path)

    def _add_own_routes(self) -> None:
        self.add_route("GET", "/", self.answer_welcome)
        self.add_route("GET", "/health", self._answer_health)
        self.add_route("GET", "/metrics", self._answer_metrics)
        self.add_route("GET", "/usage", self._answer_usage)
        self.add_route("GET", "/requests/*", self.answer_request_report)

    def _find_handler(self, method: str, path: str) -> Handler | int:
        method = "GET" if method == "HEAD" else method
        path = path.rstrip("/") or "/"
        below = [path, *(f"{path[:at]}/*" for at in range(len(path) - 1, -1, -1) if path[at] == "/")]
        for each in below:
            if (found := self._routes.get((method, each))) is not None:
                return found
        known = any(place == each for each in below for _, place in self._routes)
        return 405 if known else 404

    # Checks, before the body is read

    def admit(self, request: Request) -> Response | None:
        """A refusal, or None for a request that may send its body."""
        refusal = check_host(request, self._names) or check_origin(request)
        if refusal is None and request.path not in self._open_paths and not self._is_signed_in(request):
            refusal = self._access.admit(request, self._wall_clock())
        check_body = check_form if request.path in self._form_paths else check_content
        refusal = refusal or self._check_route(request) or check_body(request)
        if refusal is None:
            return None
        page = self.refused_page(request, refusal) if self.refused_page is not None else None
        return page or self.refusal(request, refusal.status, refusal.message)

    def _is_signed_in(self, request: Request) -> bool:
        if self.sign_in is None or not self.sign_in(request):
            return False
        request.access = ClientAccess("browser")
        return True

    def _check_route(self, request: Request) -> Refusal | None:
        found = find_route(request.method, request.path, request.headers)
        if isinstance(found, GatewayRoute):
            return None
        handler = self._find_handler(request.method, request.path)
        if not isinstance(handler, int):
            return None
        status = max(found, handler)
        what = "has another method" if status == 405 else "does not exist"
        return Refusal(status, f"{request.method} {request.path[:200]} {what}; see docs/guide/gateway.md")

    def refusal(self, request: Request, status: int, message: str) -> Response:
        """A refusal in the caller's shape."""
        protocol = protocol_of(request.path)
        extra = {"retry-after": "60"} if status == 429 else {}
        if not protocol:
            answer = error_response(status, message)
        else:
            answer = json_response(refusal_envelope(protocol, status, message), status)
        answer.headers |= extra
        return answer

    # Answers

    async def answer(self, request: Request) -> Response:
        """The answer to a request that was admitted. Nothing is raised but a cancellation."""
        route = find_route(request.method, request.path, request.headers)
        try:
            if not isinstance(route, GatewayRoute):
                handler = self._find_handler(request.method, request.path)
                if isinstance(handler, int):
                    return self.refusal(request, handler, f"{request.path[:200]} does not exist")
                return await handler(request)
            match route.action:
                case "models":
                    return json_response(model_list(route.protocol, self.model_names()))
                case "model":
                    return self._answer_model(request, route)
                case "count":
                    return await self._answer_count(request, route)
                case _:
                    return await self._answer_reply(request, route)
        except Exception as error:
            return self._failure(request, route, error)

    async def _answer_reply(self, request: Request, route: GatewayRoute) -> Response:
        access: ClientAccess = request.access or ClientAccess("")
        now = self._wall_clock()
        record = RequestRecord(
            id=f"req_{os.urandom(12).hex()}",
            time=now,
            client=access.name,
            agent=agent_of(request.headers.get("user-agent", "")),
            protocol=route.protocol,
        )
        reply: GatewayReply | None = None
        try:
            inbound = await open_inbound(route, request.body, self.state.response)
            record.asked, record.stream = inbound.model[:200], inbound.streams
            self._access.check_limits(access, inbound.model, self.memory, now)
            header = request.headers.get("x-turnout-target", "")
            if header:
                self._access_to_target(access, header)
            targets = self._find_targets(inbound.model, header)
            record.target = str(targets[0].origin)
            record.conversation = conversation_key(request.headers, inbound.fields, record.client)
            states = await self.state.recall(record.conversation)
            reply = GatewayReply(self._services, request, route, inbound, targets, record, states)
            self.metrics.open_replies += 1
            return await reply.respond()
        except Exception as error:
            answer = self._failure(request, route, error, record.target)
            answer.headers |= {
                "x-turnout-target": _header_text(record.target),
                "x-turnout-request": record.id,
                "x-turnout-repairs": str(record.repairs),
            }
            if reply is not None:
                reply.finish(answer.status, error=self._secrets.hide(str(error))[:500])
            else:
                record.status, record.error = answer.status, self._secrets.hide(str(error))[:500]
                self._write_record(record)
            return answer

    def _access_to_target(self, access: ClientAccess, header: str) -> None:
        """A key that is bound to some models is bound to them by its header too."""
        if access.limits is not None and access.limits.models:
            self._access.check_model(access, header)

    def _find_targets(self, asked: str, header: str) -> list[Target]:
        names = targets_of(asked, header, self.settings, self._is_own_target, self._usual_target)
        return [self._target(name) for name in names]

    def _is_own_target(self, name: str) -> bool:
        return name in self.config.settings.targets

    def _usual_target(self, asked: str) -> str:
        """Without a default: the model itself where there is a key for its maker, else our usual model."""
        name = asked.removeprefix("models/")
        if (maker := maker_of(name)) and self.config.has_key(maker):
            return f"{maker}:{name}"
        try:
            return self.config.default_model()
        except UsageError:
            return ""

    def _target(self, name: str) -> Target:
        found = self._targets.get(name)
        if found is None:
            found = self.config.target(name)
            if len(self._targets) < 1000:
                self._targets[name] = found
        return found

    def model_names(self) -> list[str]:
        """The models that a client can ask for."""
        return listed_names(self.settings, self.config.targets())

    def _answer_model(self, request: Request, route: GatewayRoute) -> Response:
        if route.model in self.model_names():
            return json_response(model_entry(route.protocol, route.model))
        why = f"the model {route.model[:200]!r} is not configured; GET /v1/models lists what is"
        body = error_body(route.protocol, ProviderError(why, kind="not_found", status=404))
        return Response(body.status, dict(body.headers), body.body)

    async def _answer_count(self, request: Request, route: GatewayRoute) -> Response:
        inbound = await open_inbound(route, request.body, self.state.response)
        form, origin = FORMATS[route.protocol], origin_of(inbound.model, route.protocol)
        read = read_request(inbound.body, form, origin)
        target = self._find_targets(inbound.model, request.headers.get("x-turnout-target", ""))[0]
        tokens = count(read.history, target)
        name = "totalTokens" if route.protocol == "gemini" else "input_tokens"
        return json_response({name: tokens}, x_turnout_target=_header_text(str(target.origin)))

    def _failure(self, request: Request, route: Any, error: Exception, target: str = "") -> Response:
        """An error in the caller's shape. A bug of ours is told without its details."""
        if not isinstance(error, TurnoutError):
            self._log_line(f"turnout: bug: {type(error).__name__}: {error}")
        protocol = route.protocol if isinstance(route, GatewayRoute) else protocol_of(request.path)
        if isinstance(error, ProviderError):
            self._secrets.clean_error(error)
        if not protocol:
            return error_response(500, "internal error; the gateway's log has the details")
        body = error_body(protocol, error, target)
        return Response(body.status, dict(body.headers), body.body)

    # Records

    def _record_reply(self, reply: GatewayReply) -> None:
        self.metrics.open_replies -= 1
        bodies = self._kept_bodies(reply) if self._keep_bodies else None
        self._write_record(reply.record, bodies)

    def _write_record(self, record: RequestRecord, bodies: bytes | None = None) -> None:
        now, cost = self._wall_clock(), record.cost or 0.0
        self._access.note_use(record.client, record.tokens, cost, now)
        self.state.count_use(record.client, now, record.tokens, cost)
        self.metrics.add(record)
        self.memory.add_request(record.as_dict(), bodies)
        if self._log is not None:
            self._log(log_line(record))

    def _kept_bodies(self, reply: GatewayReply) -> bytes:
        sent = reply.sent.body if reply.sent is not None else b""
        texts = {"received": reply.received_body, "sent": sent}
        hidden = {
            name: self._secrets.hide(body[:MAX_KEPT_BODY].decode("utf-8", "replace"))
            for name, body in texts.items()
        }
        return msgspec.json.encode(hidden)

    def _log_line(self, line: str) -> None:
        if self._log is not None:
            self._log(line)

    # Other pages

    async def answer_welcome(self, request: Request) -> Response:
        return text_response(WELCOME)

    async def _answer_health(self, request: Request) -> Response:
        return json_response({"status": "ok"})

    async def _answer_metrics(self, request: Request) -> Response:
        gauges = {
            "turnout_gateway_history_cache_bytes": self.histories.size,
            "turnout_gateway_history_cache_entries": len(self.histories),
            "turnout_tool_calls": self.telemetry.read("tool_calls_total"),
            "turnout_tool_api_400": self.telemetry.read("tool_api_400_total"),
        }
        return text_response(self.metrics.text(gauges), kind="text/plain; version=0.0.4; charset=utf-8")

    async def _answer_usage(self, request: Request) -> Response:
        access: ClientAccess = request.access
        now = self._wall_clock()
        period = access.limits.period if access.limits is not None else "month"
        requests, tokens, cost = await self._usage_of(access.name, period_start(period, now))
        limits = access.limits
        return json_response(
            {
                "key": access.name,
                "period": period,
                "requests": requests,
                "tokens": tokens,
                "cost": round(cost, 6),
                "max_cost": limits.max_cost if limits else None,
                "max_tokens": limits.max_tokens if limits else None,
            }
        )

    async def _usage_of(self, client: str, since: float) -> tuple[int, int, float]:
        """At all gateways that share a store, or here alone."""
        if found := await self.state.share_usage([(client, since)]):
            return found[0].requests, found[0].tokens, found[0].cost
        return self.memory.usage_of(client, since)

    async def answer_request_report(self, request: Request) -> Response:
        id = request.path.removeprefix("/requests/").removesuffix(".json")
        found = self.memory.request(id)
        access: ClientAccess = request.access
        if found is None or (access.limits is not None and found[0]["client"] != access.name):
            return error_response(404, f"there is no request {id[:100]!r}; x-turnout-request names one")
        record, bodies = found
        return json_response({**record, "bodies": bodies} if bodies else record)


def _header_text(text: str) -> str:
    return "".join(letter if " " <= letter <= "~" else "_" for letter in text)[:200]
