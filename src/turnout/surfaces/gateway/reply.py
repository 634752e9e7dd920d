"""One conversation request: read it, ask for a reply, and write the reply in the caller's protocol.

Nothing is sent before the first event from upstream: until then another target can be asked, and the
status is still open. After it, a failure is told in the shape that makes the client ask again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from ...errors import ProviderError, StreamError, TurnoutError
from ...history.log import History
from ...model import ModelTurn, Usage
from ...session.compress import CompressPolicy
from ...session.events import Cancelled, Complete, Failed, SessionEvent, Status
from ...session.limits import Limits
from ...session.recovery import Recovery
from ...session.retry import RetryPolicy
from ...session.routing import Breaker
from ...session.run import Events
from ...session.session import Session
from ...targets.inbound import InboundRequest, read_request
from ...targets.target import Target
from ...telemetry.counts import Telemetry
from ...wire.reply_encoder import WRITERS, ReplyEncoder
from ...wire.request import WireRequest
from ...world.keys import Keys
from ...world.world import World
from .histories import HistoryCache
from .inbound import InboundBody, without_billing
from .issued import IssuedState, ReplyCarrier, fingerprint, pack_state
from .keeping import ConversationKeeper
from .names import origin_of
from .record import RequestRecord
from .recoveries import RecoveryCache
from .routes import FORMATS, GatewayRoute
from .sealing import Sealer
from .shared_state import GatewayState
from .values import Request, Response

QUIET = frozenset(
    {"unread_fields", "thinking_omitted", "held_by_provider", "speaker_name", "shortened_result"}
)
"""Findings that are not repairs."""
LAST_WORDS = 8192
UNKNOWN_MODEL = "is not in the table"
PATIENT_AGENTS = ("codex",)
"""Clients that do not ask again after a 429: it is waited out for them."""
KINDS = {
    "chat": "text/event-stream; charset=utf-8",
    "responses": "text/event-stream; charset=utf-8",
    "anthropic": "text/event-stream; charset=utf-8",
    "gemini": "text/event-stream; charset=utf-8",
}


class ReplyServices(Struct):
    """What every reply of the gateway shares."""

    sealer: Sealer
    state: GatewayState
    histories: HistoryCache
    keys: Keys
    telemetry: Telemetry
    breakers: dict[Any, Breaker]
    world: World
    finish: Callable[[GatewayReply], None]
    recoveries: RecoveryCache = msgspec.field(default_factory=RecoveryCache)
    keeper: ConversationKeeper | None = None  # with `keep = true`


class GatewayReply:
    """The reply to one request."""

    def __init__(
        self,
        parts: ReplyServices,
        request: Request,
        route: GatewayRoute,
        inbound: InboundBody,
        targets: list[Target],
        record: RequestRecord,
        states: dict[str, bytes],
    ) -> None:
        self._services = parts
        self._route = route
        self._inbound = inbound
        self._targets = targets
        self._agent = request.headers.get("user-agent", "").lower()
        self.record = record
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()
        self._recovery = Recovery()
        self.sent: WireRequest | None = None  # the request that went upstream last
        self._finished = False
        self._read = self._read_history(states)
        self._carrier = ReplyCarrier(route.protocol, parts.sealer)
        self._is_array = route.protocol == "gemini" and request.query.get("alt") != "sse"

    # Reading

    def _read_history(self, states: dict[str, bytes]) -> InboundRequest:
        parts, key = self._services, self.record.conversation
        known = parts.histories.take(key)
        issued = IssuedState(parts.sealer, states.get)
        read = read_request(
            self._inbound.body,
            FORMATS[self._route.protocol],
            origin_of(self._inbound.model, self._route.protocol),
            key=key,
            onto=known,
            issued=issued,
        )
        self.record.reused = any(read.history is each for each in known)
        for each in known:
            if each is not read.history:
                parts.histories.give_back(key, each, 0)
        if issued.forged:
            self.record.repaired.append(f"{issued.forged} foreign tokens read as foreign reasoning")
        return read

    @property
    def received_body(self) -> bytes:
        return self._inbound.body

    @property
    def history(self) -> History:
        return self._read.history

    # Asking

    async def respond(self) -> Response:
        """The response, once the first event is there."""
        events = self._start_reply()
        try:
            first = await self._first_event(events)
            self._note_request()
            encoder = self._encoder()
            if self._inbound.streams:
                return Response(200, self._stream_headers(), self._stream(encoder, first, events))
            complete = await self._complete(first, events)
            body = encoder.whole(complete.turn)
            await self._keep_reply(complete, encoder, body)
            return Response(200, {"content-type": "application/json", **self.headers()}, body)
        except BaseException as error:
            await events.aclose()
            if isinstance(error, asyncio.CancelledError):
                self.finish(499, error="the client has gone")
            raise

    def _start_reply(self) -> Events:
        parts, history = self._services, self.history
        first, *others = self._targets
        waits = any(name in self._agent for name in PATIENT_AGENTS)
        retries = RetryPolicy(attempts=3 + len(others), wait=120.0 if waits else 2.0, base=0.2, cap=1.0)
        system = history.system
        if any(target.origin.provider != "anthropic" for target in self._targets):
            system = without_billing(system)
        session = Session(
            first,
            fallback=others,
            history=history,
            system=system,
            limits=Limits(retries=retries),
            compress=CompressPolicy(automatic=False),
            telemetry=parts.telemetry,
            world=msgspec.structs.replace(parts.world, debug=self._note_step),
        )
        session.keys, session.router.breakers = parts.keys, parts.breakers
        self._recovery = session.recovery
        if (earlier := parts.recoveries.find(history)) is not None:
            session.recovery.resume(earlier)
        history.scheduled = False  # the client runs the calls: whether an open one did run is not known
        options = dict(self._read.options)
        options.pop("stream", None)
        return session.reply(keep=False, **options)

    def _note_step(self, what: str, **about: Any) -> None:
        if what == "request":
            self.sent = about["request"]
            self.record.target = about["target"]

    async def _first_event(self, events: Events) -> SessionEvent:
        """The first event from upstream. What came before it is only recorded."""
        async for event in events:
            match event:
                case Status(kind, detail):
                    self.record.steps.append(f"{kind}: {detail}"[:300])
                case Usage():
                    continue
                case Failed(error):
                    raise error
                case Cancelled():
                    raise ProviderError("the request was cancelled; try again", kind="server", status=503)
                case _:
                    self.record.first_byte = round(self._clock() - self._began, 6)
                    return event
        raise TurnoutError("bug: the run ended without a terminal event")  # pragma: no cover

    async def _complete(self, first: SessionEvent, events: Events) -> Complete:
        if isinstance(first, Complete):
            return first
        async for event in events:
            match event:
                case Complete():
                    return event
                case Failed(error):
                    raise error
        raise ProviderError("the reply ended too early; try again", kind="server", status=502)

    # Writing

    def _encoder(self) -> ReplyEncoder:
        assert self.sent is not None
        self._carrier.origin = self.sent.target
        return ReplyEncoder(
            self._route.protocol,
            model=self._inbound.model or self.sent.target.model,
            id=self._response_id(),
            created=int(self.record.time),
            include_usage=self._inbound.include_usage,
            carry=self._carrier.carry,
            request=self._asked_fields(),
            array=self._is_array,
            upstream=self.sent.protocol,
        )

    def _response_id(self) -> str:
        """Of the conversation, the turn, and what was said last: the same request has the same id."""
        place = f"{self.record.conversation}.{len(self.history.turns)}\0{len(self._inbound.body)}\0"
        digest = sha256(place.encode() + self._inbound.body[-LAST_WORDS:])
        return WRITERS[self._route.protocol][2] + digest.hexdigest()[:32]

    def _asked_fields(self) -> dict[str, Any] | None:
        """The body without its messages: Responses repeats a part of it, and names tools as it does."""
        if self._route.protocol != "responses":
            return None
        fields = self._inbound.fields
        try:
            return {name: msgspec.json.decode(raw) for name, raw in fields.items() if name != "input"}
        except (ValueError, RecursionError):
            return None

    def _stream_headers(self) -> dict[str, str]:
        kind = "application/json" if self._is_array else KINDS[self._route.protocol]
        return {"content-type": kind, "cache-control": "no-cache", **self.headers()}

    def headers(self) -> dict[str, str]:
        """What every answer says about its request."""
        return {
            "x-turnout-target": self.record.target,
            "x-turnout-request": self.record.id,
            "x-turnout-repairs": str(self.record.repairs),
        }

    async def _stream(
        self, encoder: ReplyEncoder, first: SessionEvent, events: Events
    ) -> AsyncIterator[bytes]:
        """The bytes of the reply, joined as far as events have come together."""
        try:
            pieces = [encoder.start(), *self._event_bytes(encoder, first)]
            for event in events.take_ready():
                pieces += self._event_bytes(encoder, event)
            yield b"".join(pieces)
            pieces = []
            async for event in events:
                match event:
                    case Complete():
                        await self._keep_reply(event, encoder)
                        pieces.append(encoder.end())
                        break
                    case Failed(error):
                        pieces.append(encoder.fail(_stream_failure(error)))
                        self.finish(200, error=str(error))
                        break
                    case Cancelled():
                        pieces.append(encoder.fail(StreamError("the reply was cancelled", kind="server")))
                        break
                pieces += self._event_bytes(encoder, event)
                for more in events.take_ready():
                    pieces += self._event_bytes(encoder, more)
                if piece := b"".join(pieces):
                    yield piece
                pieces = []
            yield b"".join(pieces)
        finally:
            await events.aclose()
            self.finish(499, error="the client has gone")  # does nothing where the reply has ended

    def _event_bytes(self, encoder: ReplyEncoder, event: SessionEvent) -> list[bytes]:
        if isinstance(event, Status):
            self.record.steps.append(f"{event.kind}: {event.detail}"[:300])
            return []
        return [encoder.feed(event)]  # type: ignore[arg-type]  # a reply without tools has no other events

    # Keeping

    def _note_request(self) -> None:
        """What had to be repaired and dropped for the target that answers."""
        assert self.sent is not None
        sent, record = self.sent, self.record
        notes = [*sent.source.notes[: sent.source.noted], *sent.source.tail_notes, *sent.diagnostics]
        found = [*self.history.diagnostics, *notes]
        record.repaired += [f"{each.code} {each.detail}".strip() for each in found if each.code not in QUIET]
        steps = self._recovery.in_force(sent.target)
        record.repaired += [f"{step}, because {sent.target} refused the conversation" for step in steps]
        changes = [change for change in sent.changes if UNKNOWN_MODEL not in change]
        record.dropped = [*self._read.dropped, *changes]
        self._note_cache_marks(sent)
        record.repairs = len(record.repaired) + len(record.dropped)
        del record.repaired[200:], record.dropped[200:]

    def _note_cache_marks(self, sent: WireRequest) -> None:
        """Where the markers of the client went: they are set anew, at the ends of what stays the same."""
        if (
            not (count := self._read.cache_marks) or self._route.protocol == "chat"
        ):  # there it is told already
            return
        if b'"cache_control"' in sent.body or b'"cachePoint"' in sent.body:
            self.record.steps.append(f"cache_control: {count} markers set anew for {sent.target}")
        else:
            self.record.dropped.append(f"cache_control: {count} markers; {sent.target} caches by itself")

    async def _keep_reply(self, complete: Complete, encoder: ReplyEncoder, body: bytes = b"") -> None:
        """Remember what the client does not carry, keep the history for its next request, and finish."""
        parts, turn = self._services, complete.turn
        key = self.record.conversation
        state = self._carrier.left_over(turn)
        if state is not None and (name := fingerprint(turn)):
            await parts.state.remember(key, name, pack_state(state))
        if self._inbound.stores:
            await self._keep_response(encoder, turn, body)
        parts.recoveries.keep(self.history, self._recovery, turn.origin)
        if parts.keeper is not None:
            await parts.keeper.keep(self.history, turn, self.record.client)
        self.record.stop = turn.stop
        self.record.add_usage(turn.usage, complete.cost, self._counts_cached_apart(turn))
        self.finish(200)

    def _counts_cached_apart(self, turn: ModelTurn) -> bool:
        target = next((each for each in self._targets if each.origin == turn.origin), None)
        return bool(target and getattr(target.dialect, "counts_cached_apart", False))

    async def _keep_response(self, encoder: ReplyEncoder, turn: ModelTurn, body: bytes) -> None:
        """For a client that continues from this response by its id."""
        whole: Mapping[str, Any] = msgspec.json.decode(body or encoder.whole(turn))
        given = bytes(self._inbound.fields["input"]).strip()
        if given[:1] == b'"':
            given = b'[{"role":"user","content":' + given + b"}]"
        items = b",".join([given[1:-1], *(msgspec.json.encode(item) for item in whole.get("output", ()))])
        await self._services.state.keep_response(str(whole.get("id", "")), b"[" + items + b"]")

    def finish(self, status: int, error: str = "") -> None:
        """The request is over, once: its record is written, and its history can be used again."""
        if self._finished:
            return
        self._finished = True
        record = self.record
        record.status, record.error = status, error
        record.seconds = round(self._clock() - self._began, 6)
        self._services.histories.give_back(record.conversation, self.history, len(self._inbound.body))
        self._services.finish(self)


def _stream_failure(error: TurnoutError) -> ProviderError | StreamError:
    """An error that can be told in a stream. The text of a bug is not shown."""
    if isinstance(error, ProviderError | StreamError):
        return error
    return ProviderError("internal error; the log of the gateway has the details", kind="server")
