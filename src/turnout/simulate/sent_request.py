"""What was sent, for the tests of people who use turnout: one request as a value, in neutral words.

    sent = model.requests[0]
    assert sent.tools == ("weather",)
    model.requests.check(target="anthropic", user="coat", results={"weather": "18 degrees"})

`check` compares only what is named, and on a difference says what was expected and what was sent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

from ..errors import UsageError
from ..history.log import History
from ..model import ModelTurn, SystemTurn, ToolCall, UserTurn, joined_text
from ..plain import dumps
from ..world.redacted_request import headers_without_keys, url_without_keys
from .request import Route, SimulatedRequest, parse_body, route_of
from .sent_difference import EXPECTED, differences_of
from .simulation import provider_of

LONGEST_LINE = 300


def sent_request(url: str, headers: Mapping[str, str], body: bytes, *, provider: str = "") -> SentRequest:
    """The request as a test sees it. The keys that it was sent with are not in it."""
    return SentRequest(
        provider or provider_of(url), url_without_keys(url), headers_without_keys(headers), body
    )


class SentRequest:
    """One request that was sent. `headers` and `url` hold no keys; `body` is its JSON."""

    def __init__(self, provider: str, url: str, headers: dict[str, str], body: bytes) -> None:
        self.provider = provider
        self.url: str = url
        self.headers = headers
        self.body: Any = parse_body(body)
        self._asked = SimulatedRequest(provider, route_of(url) or Route(""), self.body)

    @property
    def model(self) -> str:
        """The model that was asked, as the request names it."""
        return self._asked.model

    @property
    def target(self) -> str:
        """Who was asked: `anthropic:claude-sonnet-5`."""
        return f"{self.provider}:{self.model}" if self.model else self.provider

    @cached_property
    def history(self) -> History:
        """The conversation of the request; empty where it holds none, as with a list of models."""
        try:
            return self._asked.history
        except UsageError:
            return History()

    @property
    def system(self) -> str:
        """The system text, with the instructions that stand between turns."""
        between = [joined_text(turn.blocks) for turn in self.history.turns if isinstance(turn, SystemTurn)]
        return "\n\n".join(filter(None, [self.history.system, *between]))

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that the model may call."""
        return tuple(tool.name for tool in self.history.tools if tool.is_function)

    @property
    def user(self) -> str:
        """The last text of the user."""
        turns = [turn for turn in self.history.turns if isinstance(turn, UserTurn)]
        return joined_text(turns[-1].blocks) if turns else ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Every tool call in the conversation."""
        turns = [turn for turn in self.history.turns if isinstance(turn, ModelTurn)]
        return tuple(call for turn in turns for call in turn.tool_calls)

    @property
    def results(self) -> dict[str, str]:
        """The last result of each tool that was called, as text."""
        outcomes = ((call.name, self.history.interaction(call.id).outcome) for call in self.calls)
        return {name: outcome.text for name, outcome in outcomes if outcome is not None}

    @property
    def conversation(self) -> list[str]:
        """The conversation as short lines: `user: …`, `model: …`, `call: …`, `result: …`."""
        return [line for turn in self.history.turns for line in self._lines_of(turn)]

    def _lines_of(self, turn: Any) -> Iterable[str]:
        role = {UserTurn: "user", SystemTurn: "system"}.get(type(turn), "model")
        if text := turn.text if isinstance(turn, ModelTurn) else joined_text(turn.blocks):
            yield f"{role}: {text}"
        for call in turn.tool_calls if isinstance(turn, ModelTurn) else ():
            outcome = self.history.interaction(call.id).outcome
            yield f"call: {call.name}({dumps(call.arguments)})"
            if outcome is not None:
                yield f"result: {outcome.text}"

    def check(self, **expected: Any) -> SentRequest:
        """Raise `AssertionError`, with what differs, unless the request is as expected.

        `target` is a provider or `provider:model`; `system`, `user`, `text` and `url` are parts of a text;
        `tools` and `calls` are names; `results` are parts of a text by tool; `headers` are values by name,
        None where a header must not be sent; `body` is a part of the JSON.
        """
        if found := differences_of(self, expected):
            raise AssertionError(
                "\n".join([f"the request to {self.target} is not as expected", *found, *self._report()])
            )
        return self

    def _report(self) -> list[str]:
        return ["the conversation that was sent:", *(f"  {_line_of(line)}" for line in self.conversation)]

    def __repr__(self) -> str:
        tools = ", ".join(self.tools) or "none"
        return f"<request to {self.target}: {_line_of(self.user, 60)!r}, tools {tools}>"


class SentRequests(Sequence[SentRequest]):
    """Every request that was sent, in order."""

    def __init__(self, requests: Iterable[SentRequest]) -> None:
        self._requests = tuple(requests)

    @overload
    def __getitem__(self, at: int) -> SentRequest: ...

    @overload
    def __getitem__(self, at: slice) -> SentRequests: ...

    def __getitem__(self, at: int | slice) -> SentRequest | SentRequests:
        if isinstance(at, slice):
            return SentRequests(self._requests[at])
        if not -len(self) <= at < len(self):
            raise IndexError(f"request {at} was not sent; {self._summary()}")
        return self._requests[at]

    def __iter__(self) -> Iterator[SentRequest]:
        return iter(self._requests)

    def __len__(self) -> int:
        return len(self._requests)

    def check(self, **expected: Any) -> SentRequest:
        """The first request that is as expected (see `SentRequest.check`); fails where there is none."""
        near: list[tuple[int, int, list[str]]] = []
        for at, each in enumerate(self):
            found = differences_of(each, expected)
            if not found:
                return each
            near.append((len(found), at, found))
        if not near:
            differences_of(None, expected)  # so that a misspelt name is told first
            raise AssertionError(f"no request was sent; expected one with {_names_of(expected)}")
        _, at, found = min(near, key=lambda row: (row[0], -row[1]))  # the later one holds more
        raise AssertionError(
            "\n".join(
                [
                    f"no request is as expected; {self._summary()}",
                    f"nearest, [{at}]:",
                    *found,
                    *self[at]._report(),
                ]
            )
        )

    def check_none(self, **expected: Any) -> None:
        """Fail where a request is as described; without a description, where any was sent."""
        for at, each in enumerate(self):
            if not differences_of(each, expected):
                what = f"with {_names_of(expected)}" if expected else "at all"
                raise AssertionError(f"request [{at}] was sent, and none {what} was expected: {each!r}")

    def _summary(self) -> str:
        if not self:
            return "no request was sent"
        return "sent were:\n" + "\n".join(f"  [{at}] {each!r}" for at, each in enumerate(self))

    def __repr__(self) -> str:
        return f"<{len(self)} requests: {', '.join(each.target for each in self)}>"


def _names_of(expected: Collection[str]) -> str:
    return ", ".join(name for name in EXPECTED if name in expected)


def _line_of(text: str, limit: int = LONGEST_LINE) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
