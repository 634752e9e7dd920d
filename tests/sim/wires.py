"""A line that splits, stalls, resets, truncates and corrupts, and servers with good and bad days."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import Any

from msgspec import Struct
from tests.sim.fates import Fates
from tests.sim.models import Model

from turnout.plain import dumps
from turnout.simulate import (
    Call,
    Delay,
    Drop,
    Garble,
    HttpError,
    MidStreamError,
    Odd,
    Pings,
    Raw,
    Repeat,
    Reset,
    ScriptedTransport,
    SimulatedRequest,
    Split,
    Stall,
    Truncate,
)
from turnout.world.ports import Incoming, Outgoing

EPOCH = 1_800_000_000.0
"""Where the wall clock stands when a run begins."""
PASSING = (
    HttpError("rate_limit"),
    HttpError("server"),
    HttpError("overloaded"),
    HttpError("server", status=502),
    HttpError("server", status=503),
    HttpError("timeout"),
    HttpError("overloaded", status=529),
)
LASTING = ("quota", "auth", "not_found", "content_filter", "context_too_long", "invalid_request")
HARMLESS = ("crlf", "cr", "bom", "comments", "no_space", "two_lines", "no_last_line", "padding", "no_usage")
NO_REPLY = (
    Raw(""),
    Raw("<html>Sorry</html>"),
    Raw('{"error": {"message": "Overloaded", "type": "overloaded_error"}}', content_type="application/json"),
    Raw("data: [DONE]\n\n", content_type="text/event-stream"),
    Raw("upstream timed out", status=504, content_type="text/plain"),
)


def wall_clock() -> float:
    return EPOCH + asyncio.get_running_loop().time()


class Sent(Struct):
    """One request on the line, and what the server asked for in return."""

    at: float
    place: str
    body: bytes
    status: int = 0
    not_before: float = 0.0


def _server_of(url: str) -> str:
    """Whose patience counts. Bedrock's two APIs have one address, and each is a target of its own."""
    address, _, operation = url.rpartition("/")
    return f"{address}/invoke" if operation.startswith("invoke") else address


class Line:
    """The transport of a run: a strict simulated provider behind faults."""

    def __init__(self, fates: Fates, model: Model) -> None:
        self.fates = fates
        self.model = model
        self.dice = fates.dice("line")
        self.inner = ScriptedTransport(self._answer, seed=str(fates.seed))
        self.sent: list[Sent] = []
        self.rests: dict[str, float] = {}
        self.faults: list[str] = []
        self.said: set[tuple[tuple[str, str], ...]] = set()  # the calls of every reply

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Incoming]:
        loop = asyncio.get_running_loop()
        record = Sent(loop.time(), _server_of(request.url), request.body)
        named = dict(self.rests)
        self.sent.append(record)  # the answer is made before anyone else can send
        async with self.inner.send(request) as answer:
            record.status, record.place = answer.status, f"{record.place} {self._model_of(request)}"
            self._expect_patience(record, named)
            if self.fates.strikes("corrupted"):
                yield Corrupted(answer, self)
                return  # what the server asked for may be lost, too
            heard = True
            try:
                yield answer
            except asyncio.CancelledError:  # a session that is stopped while it reads has not heard of it
                heard = False
                raise
            finally:  # only now does the session know what the server asked for
                if heard:
                    self.rests[record.place] = max(self.rests.get(record.place, 0.0), record.not_before)

    def _model_of(self, request: Outgoing) -> str:
        """Who was asked. Subagents ask at the same time, so that the last request may be another's."""
        same = (
            seen
            for seen in reversed(self.inner.exchanges)
            if (seen.url, seen.body) == (request.url, request.body)
        )
        found = next(same, None)
        return found.model if found else ""  # a question about the server itself has no model

    def _expect_patience(self, sent: Sent, named: Mapping[str, float]) -> None:
        """No server is asked again before the time that it named."""
        if sent.at < (time := named.get(sent.place, 0.0)):
            self.faults.append(f"{sent.place} was asked at {sent.at}, and it had named {time}")

    def _answer(self, asked: SimulatedRequest) -> Any:
        fates, dice = self.fates, self.dice
        if fates.strikes("http_passing"):
            return self._passing()
        if fates.strikes("http_lasting"):
            return HttpError(dice.choice(LASTING))  # type: ignore[arg-type]
        if fates.strikes("dead_line"):
            return Drop()
        if fates.strikes("no_reply"):
            return dice.choice(NO_REPLY)
        reply = ["All is well."] if fates.calm else self.model(asked)
        self.said.add(tuple((part.name, dumps(part.arguments)) for part in reply if isinstance(part, Call)))
        return [*reply, *self._faults()]

    def _passing(self) -> HttpError:
        error = self.dice.choice(PASSING)
        after = self.dice.choice([None, 0, 1, 7.5, 40, 3_600, "date", "past", "-1", "soon", "1e9"])
        if isinstance(after, int | float):
            self.sent[-1].not_before = self.sent[-1].at + after
        if after in ("date", "past"):
            moment = int(wall_clock() + self.dice.randrange(1, 50) * (1 if after == "date" else -1))
            self.sent[-1].not_before = moment - EPOCH
            after = formatdate(moment, usegmt=True)
        return HttpError(error.kind, status=error.status, retry_after=after)

    def _faults(self) -> list[Any]:
        fates, dice = self.fates, self.dice
        place = dice.choice([None, 0, 1, 2, 3, 5, 9])
        faults: list[Any] = [Split(dice.choice([0, 13, 90, 700]))] if dice.random() < 0.3 else []
        if fates.strikes("silence"):
            every = dice.choice([1.0, 50.0])
            faults.append(
                dice.choice([Stall(400, place), Stall(3, place), Delay(300), Pings(90, every, place)])
            )
        if fates.strikes("cut"):
            faults.append(dice.choice([Truncate(place), Reset(place)]))
        elif fates.strikes("stream_error"):
            faults.append(MidStreamError(dice.choice(["overloaded", "server", "rate_limit"]), place))
        if fates.strikes("garbled"):
            faults.append(Garble(place, bytes=dice.random() < 0.3))
        if fates.strikes("repeated"):
            faults.append(Repeat(dice.randrange(1, 6)))
        if fates.strikes("odd"):
            faults.append(Odd((dice.choice(HARMLESS),)))
        return faults


class Corrupted:
    """An answer in which some bytes are wrong, missing or there twice."""

    def __init__(self, answer: Incoming, line: Line) -> None:
        self.status = answer.status
        self.headers: Mapping[str, str] = answer.headers
        self.chunks: AsyncIterator[bytes] = _corrupted(answer.chunks, line.dice)


async def _corrupted(chunks: AsyncIterator[bytes], dice: random.Random) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        at = dice.randrange(len(chunk)) if chunk else 0
        match dice.randrange(12):
            case 0:
                yield chunk[:at] + bytes([dice.randrange(256)]) + chunk[at + 1 :]
            case 1:
                yield chunk[:at]
            case 2:
                yield chunk
                yield chunk[at:]
            case _:
                yield chunk
