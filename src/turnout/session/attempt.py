"""One request to one target, from the history to the finished turn.

Three timeouts bound it: for the first byte, for silence between events (a ping is not an
event), and for the whole. Every failure is a `ProviderError` or `StreamError` that carries
the turn so far.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..errors import ProviderError, StreamError
from ..history.log import History
from ..model import ModelTurn, ToolCall, Usage, with_fields
from ..streaming.events import Error, StreamEvent, ToolCallStart
from ..targets.reply import ReplyReader
from ..targets.request import render
from ..targets.target import Target
from ..telemetry.counts import Operation, Telemetry
from ..wire.failure.read_failure import failure
from ..wire.request import WireRequest
from ..world.keys import Keys
from ..world.ports import Incoming, Outgoing, Transport, WallClock, admission
from ..world.secrets import Secrets
from .answer_tool import AnswerTool
from .durability import ReplyDurability
from .hooks import HookedRequest
from .limits import Timeouts
from .recovery import Recovery
from .routing import Router

MAX_ERROR_BODY = 1024 * 1024
RESTING = "resting"
"""The code of a failure without a request: the server had named a time that is not over yet."""
DRAIN = 1.0
"""Seconds that a server gets to close a reply that it has finished, so that the connection can be kept."""

Show = Callable[[StreamEvent], None]


class RequestPorts(Struct):
    """What one request needs of its session."""

    history: History
    keeping: ReplyDurability
    router: Router
    recovery: Recovery
    transport: Transport
    keys: Keys
    secrets: Secrets
    timeouts: Timeouts
    telemetry: Telemetry
    wall_clock: WallClock


class Attempt:
    """One attempt at one reply. `shown`: a part of it was passed to the listener."""

    def __init__(self, ports: RequestPorts, target: Target, turn_key: str, hooked: HookedRequest) -> None:
        self._ports = ports
        self.target = target
        self.turn_key = turn_key
        self.hooked = hooked
        self.shown = False
        self.status = 0  # of the answer, once it has begun
        self.request = self._rendered_request()
        self._operation = self._make_operation()
        self._reader = ReplyReader(target, turn_key)
        self._names = self._projected_names()

    def _rendered_request(self) -> WireRequest:
        wanted = self.hooked.request
        options = {"stream": True, **self._ports.recovery.options_for(self.target.origin, wanted.options)}
        self._streams = bool(options["stream"])
        tools = wanted.tools
        self._answer_tool = AnswerTool.for_request(self.target, options, tools)
        if self._answer_tool is not None:
            options = self._answer_tool.options_with(options, tools)
            tools = self._answer_tool.tools_with(tools)
        place = self.target
        if place.options and "drop options" in self._ports.recovery.in_force(place.origin):
            place = replace(place, options={})
        return render(self.hooked.history, place, tools=tools, system=wanted.system, **options)

    def _make_operation(self) -> Operation:
        host = urlsplit(self.request.url).hostname or ""
        key = self._ports.history.key
        return Operation("chat", self.target.origin, key, host=host, asked=self.request.source)

    def _projected_names(self) -> dict[str, str]:
        """Our tools' names by what the target calls them, where the two differ."""
        return {sent: tool for sent, tool in self.request.names.items() if sent != tool}

    async def run(self, show: Show) -> ModelTurn:
        """The finished turn; events are shown as they come."""
        with self._ports.telemetry.measure(self._operation):
            turn = await self._request_turn(show)
            self._operation.usage, self._operation.stop = turn.usage, turn.raw_stop or turn.stop
            self._operation.answered = turn
            return turn

    async def _request_turn(self, show: Show) -> ModelTurn:
        try:
            return await self._receive_turn(show)
        except (ProviderError, StreamError) as error:
            self._ports.secrets.clean_error(error)  # servers quote the key that they refuse
            raise

    async def _receive_turn(self, show: Show) -> ModelTurn:
        try:
            await self._ports.keeping.commit()  # what is sent is in the store first
            await self._send_and_read(show)
        except TimeoutError:
            if not self._reader.reply.ended:  # else the server only kept the connection open
                raise self._failure("no answer within the time limit", "timeout") from None
        except OSError as error:
            if not self._reader.reply.ended:
                raise self._failure(f"the connection failed: {error}", "network") from error
        finally:
            self._ports.keeping.end_reply()
        for event in self._reader.close():
            self._pass_on(event, show)
        if (broken := self._reader.failure) is not None:
            raise broken
        return self._own_turn()

    @property
    def partial(self) -> ModelTurn:
        """What has arrived whole so far, as an interrupted turn."""
        return self._own_turn()

    def _own_turn(self) -> ModelTurn:
        """The turn in our own words: names of tools, and an answer as text."""
        turn = self._with_own_names(self._reader.reply.turn())
        return turn if self._answer_tool is None else self._answer_tool.turn_of(turn)

    async def _send_and_read(self, show: Show) -> None:
        async with admission(self._ports.transport, self.target.origin):
            await self._send_admitted(show)

    async def _send_admitted(self, show: Show) -> None:
        ports, clock = self._ports, asyncio.get_running_loop().time
        ends = clock() + ports.timeouts.total
        async with asyncio.timeout_at(ends):
            outgoing = await self._outgoing_request()
        self._operation.secrets = ports.keys.secrets()
        # To read a key may take a while, and other sessions ask the same server meanwhile.
        check_rest(ports.router, self.target, clock())
        self._operation.mark_sent()
        async with asyncio.timeout_at(min(ends, clock() + ports.timeouts.first_byte)) as timer:
            async with ports.transport.send(outgoing) as answer:
                self.status = answer.status
                if answer.status >= 400:
                    body = await _read_error_body(answer)
                    raise failure(answer.status, answer.headers, body, ports.wall_clock())
                timer.reschedule(min(ends, clock() + ports.timeouts.idle))
                await self._read_chunks(answer, timer, ends, show)

    async def _read_chunks(self, answer: Incoming, timer: asyncio.Timeout, ends: float, show: Show) -> None:
        clock, idle, reply = asyncio.get_running_loop().time, self._ports.timeouts.idle, self._reader.reply
        # To set a timer costs as much as to read an event: it is set at most once a second, and rings late.
        slack, armed = min(1.0, idle / 10), 0.0
        async for chunk in answer.chunks:
            if self._streams:
                self._operation.mark_first_chunk()
            events = self._reader.feed(chunk)
            if not events:
                continue
            for event in events:
                self._pass_on(event, show)
            self._ports.keeping.save_draft_soon(self)
            now = clock()
            if reply.ended:
                timer.reschedule(min(ends, now + DRAIN))
            elif now - armed >= slack:
                timer.reschedule(min(ends, now + idle + slack))
                armed = now

    async def _outgoing_request(self) -> Outgoing:
        needs_key = getattr(self._ports.transport, "asks_for_key", True)  # a scripted model need not
        request, now = self.request, self._ports.wall_clock()
        who = await self._ports.keys.request_headers(self.target, request, now, required=needs_key)
        return Outgoing(request.method, request.url, {**request.headers, **who}, request.body)

    def _pass_on(self, event: StreamEvent, show: Show) -> None:
        if isinstance(event, Error):
            return  # the exchange decides what an error means for the run
        if self._names and isinstance(event, ToolCallStart):
            event = replace(event, name=self._names.get(event.name, event.name))
        self.shown |= not isinstance(event, Usage)  # a listener need not take back a count
        if self._answer_tool is None:
            show(event)
            return
        for own in self._answer_tool.events_of(event):
            show(own)

    def _with_own_names(self, turn: ModelTurn) -> ModelTurn:
        """The turn with our own names of the tools that it calls."""
        if not self._names or not turn.tool_calls:
            return turn
        blocks = tuple(
            with_fields(block, name=self._names.get(block.name, block.name))
            if isinstance(block, ToolCall)
            else block
            for block in turn.blocks
        )
        return replace(turn, blocks=blocks)

    def _failure(self, message: str, kind: Any) -> ProviderError:
        return ProviderError(f"{self.target.origin}: {message}", kind=kind, turn=self.partial)


def check_rest(router: Router, target: Target, now: float) -> None:
    """Raise where a server has named a time before which it does not want a request."""
    if left := router.rest_asked(target, now):
        raise ProviderError(
            f"{target.origin} is rate limited; retry in {left:.0f} s",
            kind="rate_limit",
            retry_after=left,
            code=RESTING,
        )


async def _read_error_body(answer: Incoming) -> bytes:
    parts, size = [], 0
    async for chunk in answer.chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_ERROR_BODY:
            break
    return b"".join(parts)
