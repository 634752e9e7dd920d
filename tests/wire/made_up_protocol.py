"""A protocol that no provider has: a request is a list of lines, a reply is `{"says": …}`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from turnout.ids import IdProjection
from turnout.model import Message, Origin, ToolSpec, joined_text
from turnout.plain import loads
from turnout.streaming.reply import Events, ReplyBuilder
from turnout.wire.check.problem import Problem
from turnout.wire.dialect import Dialect
from turnout.wire.options import Options
from turnout.wire.protocol import Protocol, ReadOptions
from turnout.wire.request import Setting
from turnout.wire.shared.body import body_bytes, encode
from turnout.wire.shared.framing import Stream, frame
from turnout.wire.shared.reply import ReplyAuthor, ReplyForms, ReplyParts


class LineDialect(Dialect, frozen=True, kw_only=True):
    api: ClassVar[str] = "lines"


class LineEncoder:
    def __init__(
        self, dialect: LineDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        self.called: dict[str, None] = {}
        self._lines: list[bytes] = []

    def feed(self, message: Message) -> None:
        self._lines.append(_line(message))

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        lines = [*self._lines, *map(_line, tail)]
        return body_bytes({}, "lines", [[line] for line in lines]), []


def _line(message: Message) -> bytes:
    return encode(f"{message.role}: {joined_text(message.blocks)}")


class LineDecoder:
    def __init__(
        self, dialect: LineDialect, origin: Origin, turn_key: str, options: ReadOptions | None = None
    ) -> None:
        self.reply = ReplyBuilder(origin, turn_key)

    def feed(self, event: str, data: bytes) -> Events:
        return self.reply.text(loads(data)["says"])

    def whole(self, body: Any) -> Events:
        return [*self.reply.text(body["says"]), *self.close()]

    def close(self) -> Events:
        return self.reply.done("end", "end")


def _whole(reply: ReplyParts, author: ReplyAuthor, request: dict[str, Any] | None) -> dict[str, Any]:
    return {"says": reply.text}


def _stream(held: dict[str, Any], author: ReplyAuthor, odd: Collection[str]) -> Stream:
    return Stream((frame(held),), ())


def _violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    if not body.get("lines"):
        yield Problem("LIN-01", "lines", "Nothing was said.", "send at least one line")


PROTOCOL = Protocol(
    name="lines",
    path="/talk",
    encoder=LineEncoder,
    decoder=LineDecoder,
    reply=ReplyForms(_whole, _stream),
    checker=_violations_in,
)
