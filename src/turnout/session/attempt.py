"""One request to one target, from the history to the finished turn.

Three clocks watch it: one for the first byte, one for silence between events (a ping is no
event), one for the whole. Whatever goes wrong is a `ProviderError` or `StreamError` that
carries the turn so far.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from ..errors import ProviderError, StreamError
from ..model import ModelTurn, ToolCall, Usage, with_fields
from ..streaming.events import Error, StreamEvent, ToolCallStart
from ..targets.reply import ReplyReader
from ..targets.request import render
from ..targets.target import Target
from ..telemetry.counts import Operation
from ..wire.failure.read_failure import failure
from ..wire.request import WireRequest
from ..world.ports import Incoming, Outgoing
from .hooks import Asked
from .routing import Router

if TYPE_CHECKING:
    from .session import Session

ERROR_BODY = 1024 * 1024
RESTING = "resting"
"""The code of a failure that no server told us now: it had named a time before."""
DRAIN = 1.0
"""Seconds that a server gets to close a reply that it has finished, so that the connection can be kept."""


class Attempt:
    """One try at one reply. `shown` tells whether anyone saw a part of it."""

    def __init__(self, session: Session, target: Target, turn_key: str, asked: Asked) -> None:
        self.session = session
        self.target = target
        self.turn_key = turn_key
        self.asked = asked
        self.shown = False
        self.status = 0  # of the answer, once it has begun
        self.request = self._assemble()
        self.operation = self._operation()
        self._reader = ReplyReader(target, turn_key)
        self._names = self._projected_names()

    def _assemble(self) -> WireRequest:
        wanted = self.asked.request
        options = {"stream": True, **self.session.recovery.applied(self.target.origin, wanted.options)}
        self._streams = bool(options["stream"])
        return render(self.asked.history, self.target, tools=wanted.tools, system=wanted.system, **options)

    def _operation(self) -> Operation:
        host = urlsplit(self.request.url).hostname or ""
        return Operation(
            "chat", self.target.origin, self.session.history.key, host=host, asked=self.request.source
        )

    def _projected_names(self) -> dict[str, str]:
        """What the target calls our tools, where that differs: the way back."""
        return {sent: tool for sent, tool in self.request.names.items() if sent != tool}

    async def run(self, show: Callable[[StreamEvent], None]) -> ModelTurn:
        """The finished turn; events are shown as they come."""
        with self.session.telemetry.measured(self.operation):
            turn = await self._run(show)
            self.operation.usage, self.operation.stop = turn.usage, turn.raw_stop or turn.stop
            self.operation.answered = turn
            return turn

    async def _run(self, show: Callable[[StreamEvent], None]) -> ModelTurn:
        try:
            return await self._receive(show)
        except (ProviderError, StreamError) as error:
            self.session.secrets.clean_error(error)  # servers quote the key that they refuse
            raise

    async def _receive(self, show: Callable[[StreamEvent], None]) -> ModelTurn:
        try:
            self.session.history.commit()  # what is sent is in the store first
            await self._exchange(show)
        except TimeoutError:
            if not self._reader.reply.ended:  # else the server only kept the line open
                raise self._broken("no answer within the time limit", "timeout") from None
        except OSError as error:
            if not self._reader.reply.ended:
                raise self._broken(f"the connection failed: {error}", "network") from error
        finally:
            self.session.keeping.arrived()
        for event in self._reader.close():
            self._pass_on(event, show)
        if (broken := self._reader.failure) is not None:
            raise broken
        return self._named(self._reader.reply.turn())

    @property
    def partial(self) -> ModelTurn:
        """What has arrived whole so far, as an interrupted turn."""
        return self._named(self._reader.reply.turn())

    async def _exchange(self, show: Callable[[StreamEvent], None]) -> None:
        clock, limits = asyncio.get_running_loop().time, self.session.limits.reply_timeouts
        ends = clock() + limits.total
        async with asyncio.timeout_at(ends):
            outgoing = await self._outgoing()
        self.operation.secrets = self.session.keys.secrets()
        check_rest(self.session.router, self.target, clock())  # a key may take its time, and others ask too
        self.operation.sent()
        async with asyncio.timeout_at(min(ends, clock() + limits.first_byte)) as timer:
            async with self.session.transport.send(outgoing) as answer:
                self.status = answer.status
                if answer.status >= 400:
                    raise failure(
                        answer.status, answer.headers, await _body(answer), self.session.wall_clock()
                    )
                timer.reschedule(min(ends, clock() + limits.idle))
                await self._read(answer, timer, ends, show)

    async def _read(
        self, answer: Incoming, timer: asyncio.Timeout, ends: float, show: Callable[[StreamEvent], None]
    ) -> None:
        clock, idle, reply = (
            asyncio.get_running_loop().time,
            self.session.limits.reply_timeouts.idle,
            self._reader.reply,
        )
        async for chunk in answer.chunks:
            if self._streams:
                self.operation.arriving()
            events = self._reader.feed(chunk)
            if not events:
                continue
            for event in events:
                self._pass_on(event, show)
            self.session.keeping.grown(self)
            timer.reschedule(min(ends, clock() + (DRAIN if reply.ended else idle)))

    async def _outgoing(self) -> Outgoing:
        wanted = getattr(self.session.transport, "asks_for_key", True)  # a scripted model need not
        who = await self.session.keys.headers(self.target, required=wanted)
        request = self.request
        return Outgoing(request.method, request.url, {**request.headers, **who}, request.body)

    def _pass_on(self, event: StreamEvent, show: Callable[[StreamEvent], None]) -> None:
        if isinstance(event, Error):
            return  # what it means for the run is decided by whoever made this attempt
        if self._names and isinstance(event, ToolCallStart):
            event = replace(event, name=self._names.get(event.name, event.name))
        self.shown |= not isinstance(event, Usage)  # a count is nothing that a reader would take back
        show(event)

    def _named(self, turn: ModelTurn) -> ModelTurn:
        if not self._names or not turn.tool_calls:
            return turn
        blocks = tuple(
            with_fields(block, name=self._names.get(block.name, block.name))
            if isinstance(block, ToolCall)
            else block
            for block in turn.blocks
        )
        return replace(turn, blocks=blocks)

    def _broken(self, message: str, kind: Any) -> ProviderError:
        return ProviderError(f"{self.target.origin}: {message}", kind=kind, turn=self.partial)


def check_rest(router: Router, target: Target, now: float) -> None:
    """Raise where a server has named a time before which it does not want to be asked."""
    if left := router.asks_for(target, now):
        raise ProviderError(
            f"{target.origin} is rate limited; retry in {left:.0f} s",
            kind="rate_limit",
            retry_after=left,
            code=RESTING,
        )


async def _body(answer: Incoming) -> bytes:
    parts, size = [], 0
    async for chunk in answer.chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > ERROR_BODY:
            break
    return b"".join(parts)
