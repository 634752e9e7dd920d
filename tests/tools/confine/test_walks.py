"""How often the arguments of a call are walked over, from the reply that made it to the next request."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from turnout import plain
from turnout.history import codec
from turnout.session import durability
from turnout.session.session import Session
from turnout.simulate import Call, ScriptedModel
from turnout.tools.declare.tool import Tool, tool
from turnout.wire.shared import body
from turnout.world.world import World

MARK = "walked"
ARGUMENTS = {MARK: [{"name": f"n{at}", "value": at, "tags": ["a", "b"]} for at in range(500)]}
TARGETS = ("openai:gpt-5.1", "openai-responses:gpt-5.1", "anthropic:claude-sonnet-4-5", "gemini:gemini-3-pro")


class Walks:
    """Counts, for each object that has the mark, who walked over it."""

    def __init__(self) -> None:
        self.seen: list[Any] = []  # kept, so that no number is given twice
        self.by_value: dict[int, Counter[str]] = {}

    def watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def walk(*given: Any, **options: Any) -> Any:
            for found in marked(given):
                self.seen.append(found)
                self.by_value.setdefault(id(found), Counter())[name] += 1
            return function(*given, **options)

        return walk


def marked(value: Any) -> Iterator[dict[str, Any]]:
    """The objects with the mark inside any value."""
    if isinstance(value, dict):
        if MARK in value:
            yield value
            return
        value = value.values()
    elif hasattr(value, "__struct_fields__"):
        value = [getattr(value, name) for name in value.__struct_fields__]
    elif not isinstance(value, list | tuple):
        return
    for each in value:
        yield from marked(each)


class WatchedEncoder:
    def __init__(self, encode: Callable[..., Any]) -> None:
        self.encode = encode


def watch_everyone(walks: Walks, monkeypatch: pytest.MonkeyPatch, made: Tool) -> Tool:
    """Everything that goes over a whole value: encoders, copies, measures of depth, the validator."""
    for name in ("_encode", "depth_of", "_plain_copy"):
        monkeypatch.setattr(plain, name, walks.watched(name, getattr(plain, name)))
    monkeypatch.setattr(codec, "_encoder", WatchedEncoder(walks.watched("store", codec._encoder.encode)))
    encode, watched = body.encode, walks.watched("request", body.encode)
    for module in [each for name, each in sys.modules.items() if name.startswith("turnout.wire.")]:
        if getattr(module, "encode", None) is encode:
            monkeypatch.setattr(module, "encode", watched)
    return replace(made, fits=walks.watched("fits", made.fits))


@pytest.mark.parametrize("target", TARGETS)
def test_no_value_is_walked_more_than_three_times(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once each by the check, the store and the next request; copies made in between would show here."""

    async def take(**arguments: Any) -> str:
        return "ran"

    # A slow machine would save a draft of the reply, which is one more walk.
    monkeypatch.setattr(durability, "DRAFT_EVERY", 1_000.0)
    walks = Walks()
    parameters = {"type": "object", "properties": {MARK: {"type": "array"}}}
    made = watch_everyone(walks, monkeypatch, tool(take, name="take", parameters=parameters))
    model = ScriptedModel([[Call("take", ARGUMENTS)], "done"])
    session = Session(target, tools=[made], store=tmp_path / "s.db", world=World(transport=model))
    assert session.ask_sync("go").text == "done"
    assert [each.outcome.text for each in session.history.ledger if each.outcome] == ["ran"]
    [arguments] = [each.call.arguments for each in session.history.ledger]
    assert arguments == ARGUMENTS
    assert set(walks.by_value[id(arguments)]) == {"fits", "store", "request"}
    assert all(each.total() <= 3 for each in walks.by_value.values()), walks.by_value
