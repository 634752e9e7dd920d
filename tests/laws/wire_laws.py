"""What holds for the requests that a conversation becomes, on every provider.

1. Valid: the checker of the target's API finds nothing in the body.
2. Deterministic: a replayed history gives the same bytes, and so does another process.
3. Append-only: let a request be sent (the history is sealed, so nothing in it is open). Call
   its wire messages m1 … mn. Then m1 … mk stand, byte for byte, at the head of every later
   request to that target with the same thinking switch, until a compaction or a rewind raises
   the generation. k leaves out what may still grow or give way: the last message, into which
   a following one may merge, and a filler, which only stood in for what was not said yet.
4. Reading: rendering writes nothing to the history.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
from tests.laws.generate import World
from tests.laws.laws import replayed
from tests.laws.targets import TARGETS
from tests.strict_check import problems_of

from turnout.history.log import History
from turnout.targets.request import render
from turnout.targets.target import Target
from turnout.wire.request import WireRequest

ARRAYS = ("messages", "input", "contents")
THINKING = (None, True, False)
_raw = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])


def opened(request: WireRequest) -> bytes:
    """The request itself, out of Code Assist's envelope."""
    outer = _raw.decode(request.body)
    return bytes(outer["request"]) if "request" in outer else request.body


def problems(place: Target, request: WireRequest) -> list[Any]:
    """What the target would refuse.

    A block of a type that nobody knows goes back to the API that it was written for, which may be
    newer than our rules. The doors make such a type up, so the checker's word on it does not count.
    """
    found = problems_of(place, request, opened(request))
    return [problem for problem in found if MADE_UP_TYPE not in getattr(problem, "answer", str(problem))]


MADE_UP_TYPE = "hologram"


def messages(request: WireRequest) -> list[bytes]:
    """The wire messages as the bytes that are sent."""
    fields = _raw.decode(opened(request))
    array = next(fields[name] for name in ARRAYS if name in fields)
    return [bytes(item) for item in _raw_list.decode(array)]


def lasting(request: WireRequest) -> list[bytes]:
    """The wire messages that no later request may change."""
    sent = messages(request)
    filled = any("filler" in change and "last-role" in change for change in request.changes)
    nothing = any("nothing to send" in change for change in request.changes)
    return [] if nothing else sent[: len(sent) - 1 - filled]


class WireWitness:
    """Watches one world from two targets all the time, and from the others in turn."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)
        self._turn = seed * 7
        self._watched = [(self._next(), self._dice.choice(THINKING)) for _ in range(2)]
        self._history: History | None = None
        self._generation = -1
        self._sent: list[list[bytes]] = []
        self.requests = 0

    def _next(self) -> Target:
        self._turn += 1
        return TARGETS[self._turn % len(TARGETS)]

    def __call__(self, world: World, kind: str) -> None:
        history = world.history
        if history is not self._history or history.generation != self._generation:
            self._history, self._generation = history, history.generation
            self._sent = [[] for _ in self._watched]
        written = len(history.entries)
        for at, (place, thinking) in enumerate(self._watched):
            self._follow(at, render(history, place, thinking=thinking))
        self._visit(history, self._next())
        assert len(history.entries) == written, "rendering wrote to the history"

    def _follow(self, at: int, request: WireRequest) -> None:
        self.requests += 1
        sent = self._sent[at]
        assert messages(request)[: len(sent)] == sent, f"{request.target}: bytes already sent have changed"
        if self._history is not None and self._history.open_turn is None:
            self._sent[at] = lasting(request)

    def _visit(self, history: History, place: Target) -> None:
        thinking, stream = self._dice.choice(THINKING), self._dice.random() < 0.5
        choice = self._dice.choice((None, "auto", "none"))
        self.accepted(history, place, thinking=thinking, stream=stream, tool_choice=choice)

    def accepted(self, history: History, place: Target, **options: Any) -> None:
        """The target takes the request, and a replayed history gives the same one."""
        self.requests += 1
        request = render(history, place, **options)
        found = problems(place, request)
        assert found == [], f"{place.origin} would refuse: {found}"
        again = render(replayed_like(history), place, **options)
        assert again.body == request.body, f"{place.origin}: a replayed history gives other bytes"

    def everywhere(self, history: History) -> None:
        for place in TARGETS:
            self.accepted(history, place, thinking=self._dice.choice(THINKING))


def replayed_like(history: History) -> History:
    again = replayed(history)
    again.system, again.tools = history.system, history.tools
    return again
