"""A generateContent body, read once: contents with their calls and responses in order.

The server joins neighbours of one role: recorded bodies have three calls in one model content
and the three responses in three user contents, status 200. So the answers to a turn of calls
are searched in all user contents right after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec import Struct

from .. import models
from ..chat.view import array, mapping, text
from ..problem import Problem
from ..reading import Object

DATA = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)


@lru_cache(maxsize=256)
def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def field(value: Any, name: str) -> Any:
    """A field in either spelling; null reads as absent."""
    holder = mapping(value)
    found = holder.get(name)
    return found if found is not None else holder.get(snake(name))


def several(value: Any) -> list[Any]:
    """A repeated field; a single object is read as a list of one (recorded, status 200)."""
    return [value] if isinstance(value, Mapping) else list(array(value))


class GeminiCall(Struct, frozen=True):
    """A functionCall part, or a functionResponse part."""

    path: str
    kind: str  # "call" or "response"
    raw: Object
    signature: Any

    @property
    def id(self) -> str:
        return text(field(self.raw, "id"))

    @property
    def name(self) -> str:
        return text(field(self.raw, "name"))


class Content(Struct, frozen=True):
    path: str
    role: str
    parts: tuple[tuple[str, Object], ...]
    calls: tuple[GeminiCall, ...] = ()
    responses: tuple[GeminiCall, ...] = ()

    @property
    def is_said_by_the_user(self) -> bool:
        """Whether the content holds more than responses, so that a new turn of the user begins."""
        return self.role == "user" and len(self.parts) > len(self.responses)


class CallStep(Struct, frozen=True):
    """Calls of one step, and the responses right after them.

    Recorded: two neighbouring model contents with a call each, then both responses, status 200.
    So calls of neighbours are one step.
    """

    contents: tuple[Content, ...]
    answers: tuple[GeminiCall, ...]

    @property
    def path(self) -> str:
        return self.contents[0].path

    @property
    def calls(self) -> tuple[GeminiCall, ...]:
        return tuple(call for content in self.contents for call in content.calls)

    @property
    def is_answered(self) -> bool:
        """Whether there are as many responses as calls, matching or not."""
        return len(self.answers) == len(self.calls)


class GeminiRequest(Struct, frozen=True):
    body: Object
    version: int  # of the model: 0 when its name does not tell
    contents: tuple[Content, ...]

    def steps(self) -> Iterator[CallStep]:
        place = 0
        while place < len(self.contents):
            start, place = place, place + 1
            if not self.contents[start].calls:
                continue
            while self.continues_calls(place):
                place += 1
            yield CallStep(self.contents[start:place], tuple(self._answers(place)))

    def continues_calls(self, place: int) -> bool:
        """Whether the content at this index continues the calls of the one before it."""
        both = self.contents[max(place - 1, 0) : place + 1]
        return len(both) == 2 and all(content.role == "model" and content.calls for content in both)

    def _answers(self, place: int) -> Iterator[GeminiCall]:
        while place < len(self.contents):
            content = self.contents[place]
            if content.role == "model" or content.calls or not content.responses:
                return
            yield from content.responses
            place += 1

    def current_turn(self) -> Iterator[tuple[int, Content]]:
        """The contents after the last message of the user, each with its index."""
        said = [place for place, content in enumerate(self.contents) if content.is_said_by_the_user]
        start = said[-1] + 1 if said else 0
        return iter(list(enumerate(self.contents))[start:])

    def declarations(self) -> Iterator[tuple[str, Object]]:
        for place, tool in enumerate(several(field(self.body, "tools"))):
            for index, declaration in enumerate(several(field(tool, "functionDeclarations"))):
                yield f"tools[{place}].function_declarations[{index}]", mapping(declaration)


Rule: TypeAlias = Callable[[GeminiRequest], Iterator[Problem]]


def view_body(body: Mapping[str, Any], model: str = "") -> GeminiRequest:
    """Read the body, out of the envelope of Code Assist if there is one."""
    body = mapping(body)
    model = model or text(body.get("model"))
    if "contents" not in body and isinstance(body.get("request"), Mapping):
        body = body["request"]
    contents = enumerate(several(field(body, "contents")))
    return GeminiRequest(
        body=body,
        version=models.gemini_version(model),
        contents=tuple(_content(f"contents[{place}]", mapping(raw)) for place, raw in contents),
    )


def _content(path: str, raw: Object) -> Content:
    parts = [
        (f"{path}.parts[{place}]", mapping(part)) for place, part in enumerate(several(raw.get("parts")))
    ]
    calls = [
        GeminiCall(f"{where}.function_call", "call", mapping(field(part, "functionCall")), _signature(part))
        for where, part in parts
        if field(part, "functionCall") is not None
    ]
    responses = [
        GeminiCall(f"{where}.function_response", "response", mapping(field(part, "functionResponse")), None)
        for where, part in parts
        if field(part, "functionResponse") is not None
    ]
    # A content without a role is the user's.
    role = raw.get("role")
    return Content(path, "user" if role is None else text(role), tuple(parts), tuple(calls), tuple(responses))


def _signature(part: Object) -> Any:
    return field(part, "thoughtSignature")
