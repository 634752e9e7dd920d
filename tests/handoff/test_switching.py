"""Random conversations that change provider at every turn: each request taken, told whole, and growing.

The law of bytes, as decision 0002 states it: everything before the last message of a request
stands at the head of the next request to the same target, and the last message only grows at
its end. A filler stands in for what was not said yet, so it may give way; the report names it.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from tests.corpus import ROTATION, SOAK
from tests.handoff.fidelity import losses
from tests.handoff.judges import complaints, inner
from tests.handoff.places import PLACES, THINKING
from tests.laws.generate import STEPS, World, play

from turnout import History, render
from turnout.targets.target import Target
from turnout.wire.request import WireRequest

COUNT = 60 if SOAK else 6
SHARDS = 8
CACHE_POINT = b',{"cachePoint":{"type":"default"}}'
"""The end of the last message for a model with a cache behind Converse: no part of the prompt."""
ARRAYS = ("messages", "input", "contents")
WITHOUT_DOOR = [kind for kind in STEPS if kind != "door"]
WEIGHTS = [STEPS[kind][1] for kind in WITHOUT_DOOR]
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


def messages(request: WireRequest, place: Target) -> list[bytes]:
    fields = _fields.decode(inner(request, place))
    listed = _items.decode(next(fields[name] for name in ARRAYS if name in fields))
    return [bytes(item).replace(CACHE_POINT, b"") for item in listed]


def spoken(dice: Random, seed: int) -> Any:
    """A conversation step by step, with another speaker at every turn; yields it after each step."""
    world = World(f"s{seed}")
    for _ in range(dice.randrange(15, 45)):
        world.origin = dice.choice(PLACES).origin
        # What comes back through the door may hold our own fillers, which no reader tells apart.
        if play(world, dice, dice.choices(WITHOUT_DOOR, WEIGHTS)[0]):
            yield world.history


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_conversation_that_changes_provider_at_every_turn(shard: int) -> None:
    """Whoever speaks next takes the request, and reads everything that was said."""
    found: list[str] = []
    for number in range(COUNT):
        seed = ROTATION * 1_000 + shard * COUNT + number
        dice = Random(seed)
        for history in spoken(dice, seed):
            place, thinking = dice.choice(PLACES), dice.choice(THINKING)
            request = render(history, place, thinking=thinking, stream=dice.random() < 0.5)
            lines = [*complaints(request, place), *losses(history, request, place, thinking)]
            found += [f"{seed} -> {place.origin} (thinking {thinking}): {line}" for line in lines]
    assert found == []


@pytest.mark.parametrize("shard", range(SHARDS))
def test_bytes_once_sent_stay_at_the_head_of_what_is_sent_next(shard: int) -> None:
    """For a target that is spoken to again and again, while others speak in between."""
    for number in range(COUNT):
        seed = ROTATION * 1_000 + shard * COUNT + number
        dice = Random(seed)
        watched = [(dice.choice(PLACES), dice.choice(THINKING)) for _ in range(3)]
        before: dict[int, tuple[Any, list[bytes], bool]] = {}
        for history in spoken(dice, seed):
            history.seal()
            for at, (place, thinking) in enumerate(watched):
                request = render(history, place, thinking=thinking)
                sent, filled = messages(request, place), is_filled(request)
                known = before.get(at)
                if known is not None and known[0] == generation(history):
                    assert grows(known[1], sent, filled=known[2]), f"{seed}: {place.origin}"
                before[at] = (generation(history), sent, filled)


def generation(history: History) -> Any:
    return id(history), history.generation


def is_filled(request: WireRequest) -> bool:
    """Whether the last message is one that the report calls a filler."""
    lines = request.report.changes
    return any("last-role filler" in line or "nothing to send" in line for line in lines)


def grows(old: list[bytes], new: list[bytes], *, filled: bool) -> bool:
    """The old messages are the head of the new ones; the last may have grown at its end."""
    kept = old[:-1] if filled else old
    if not kept:
        return True
    return (
        new[: len(kept) - 1] == kept[:-1] and len(new) >= len(kept) and _extends(kept[-1], new[len(kept) - 1])
    )


def _extends(old: bytes, new: bytes) -> bool:
    """The same value with more at the end of its one list or text."""
    if old == new:
        return True
    first, second = msgspec.json.decode(old), msgspec.json.decode(new)
    if first.keys() - second.keys():
        return False
    for name, value in first.items():
        later = second[name]
        if isinstance(value, str) and isinstance(later, list):  # one text became the first of several parts
            later = later[0].get("text")
        if value == "" and "images" in first:  # Ollama's images stand before the text, which begins here
            continue
        if value != later and not (value and later[: len(value)] == value) and value is not None:
            return False
    return True


def test_a_request_that_changes_old_bytes_is_seen() -> None:
    """The law can fail: a message changed, dropped or moved is no growth."""
    old = [
        b'{"role":"user","content":"a"}',
        b'{"role":"assistant","content":"b"}',
        b'{"role":"user","content":"c"}',
    ]
    assert grows(old, [*old, b'{"role":"assistant","content":"d"}'], filled=False)
    assert grows(old, [*old[:2], b'{"role":"user","content":"c\\n\\nd"}'], filled=False)
    assert not grows(old, old[:2], filled=False)
    assert not grows(old, [old[0], b'{"role":"assistant","content":"B"}', old[2]], filled=False)
    assert not grows(old, [*old[:2], b'{"role":"user","content":"d"}'], filled=False)
    assert grows(old, [*old[:2], b'{"role":"user","content":"d"}'], filled=True)
    image, captioned = (
        b'{"role":"user","content":"%s","images":["iVBORw0K"]}' % text for text in (b"", b"a")
    )
    assert grows([image], [captioned], filled=False)
    assert not grows([image], [captioned.replace(b"iVBORw0K", b"R0lGODlh")], filled=False)
