"""Conversations at random: every kind of step that can happen to a history, one after the other.

A step is a function of the world and of dice, so hypothesis and a seeded generator throw the
same steps. `conversation(seed)` plays a whole one; `play(world, dice)` makes one step more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from tests.laws import doors, values
from tests.laws.targets import TARGETS

from turnout.errors import UsageError
from turnout.history.codec import dump_history, load_history
from turnout.history.log import History
from turnout.model import ModelTurn, Origin, Outcome, Text, ToolCall, UserTurn

Step = Callable[["World", Random], bool]

SYSTEM = "Be brief."
TOOLS = (
    {
        "name": "read_file",
        "description": "Reads.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
    {"name": "shell", "parameters": {"type": "object", "properties": {}}},
)


class World:
    """One conversation, who is speaking, and how often what happened."""

    def __init__(self, name: str = "w") -> None:
        self.name = name
        self.history = History(name, system=SYSTEM, tools=TOOLS)
        self.origin: Origin = TARGETS[0].origin
        self.steps: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.histories = 1
        self.parents: list[tuple[History, list[Any]]] = []
        self._heard = 0

    def become(self, history: History, *, heard: bool) -> None:
        """Go on with another history; `heard` when its diagnostics were counted already."""
        self.history = history
        self._heard = len(history.diagnostics) if heard else 0

    def new_key(self) -> str:
        self.histories += 1
        return f"{self.name}-{self.histories}"

    def listen(self) -> None:
        fresh = self.history.diagnostics[self._heard :]
        self.codes.update(item.code for item in fresh)
        self._heard = len(self.history.diagnostics)

    def calls(self, *, open: bool) -> list[str]:
        """Ids of the calls in the open turn, or of all the others that stand."""
        turn = self.history.open_turn
        key = turn.key if turn is not None else None
        return [item.call.id for item in self.history.ledger if (item.turn_key == key) == open]

    def pending(self) -> list[str]:
        return [item.call.id for item in self.history.open_calls]


# ---- someone speaks


def user(world: World, dice: Random) -> bool:
    world.history.user(values.spoken(dice))
    return True


def system(world: World, dice: Random) -> bool:
    world.history.note_system(values.text(dice) or "mind the gap")
    return True


def says(world: World, dice: Random) -> bool:
    stop = dice.choice((None, None, "length", "refused"))
    world.history.reply(world.origin, values.replied(dice, world.origin), stop=stop)
    return True


def calls(world: World, dice: Random) -> bool:
    """A turn with calls anywhere among its words; raw ids repeat within it and across turns."""
    label = f"{world.histories}_{len(world.history.entries)}"
    blocks = values.replied(dice, world.origin) if dice.random() < 0.5 else []
    for extra in range(dice.choice((1, 1, 2, 3, 5))):
        at = dice.randrange(len(blocks) + 1) if dice.random() < 0.2 else len(blocks)
        made = values.call(dice, f"{label}_{extra}", world.origin)
        blocks.insert(at, made)
        if dice.random() < 0.15:  # the same raw id once more, in the same turn
            again = "" if made.id.startswith("hist_tool_kept") else made.id
            blocks.append(ToolCall(again, made.name, made.arguments))
    world.history.reply(world.origin, blocks)
    return True


def draft(world: World, dice: Random) -> bool:
    """A reply that was begun and thrown away: its key is spent."""
    world.history.note("discarded_draft", {"turn_key": world.history.next_key()})
    return True


def switch(world: World, dice: Random) -> bool:
    before = world.origin
    world.origin = dice.choice(TARGETS).origin
    world.history.note("switch", {"from": str(before), "to": str(world.origin)})
    return True


# ---- something becomes of the calls


def result(world: World, dice: Random) -> bool:
    return _settled(world, dice, world.pending(), values.outcome(dice))


def error(world: World, dice: Random) -> bool:
    return _settled(world, dice, world.pending(), values.outcome(dice, "error"))


def cancel(world: World, dice: Random) -> bool:
    reason = dice.choice(("stopped", "did_not_run", ""))
    return _settled(
        world, dice, world.pending(), Outcome("cancelled", synthetic=dice.random() < 0.7, reason=reason)
    )


def deny(world: World, dice: Random) -> bool:
    return _settled(world, dice, world.pending(), Outcome("denied", values.text(dice), reason="denied"))


def replaced(world: World, dice: Random) -> bool:
    """A real result comes after a synthetic one, while the turn is open."""
    synthetic = [
        item.call.id for item in _open_items(world) if item.outcome and item.outcome.status == "cancelled"
    ]
    return _settled(world, dice, synthetic, values.outcome(dice))


def duplicate(world: World, dice: Random) -> bool:
    settled = [item for item in _open_items(world) if item.outcome and item.outcome.status != "cancelled"]
    if not settled:
        return False
    again = dice.choice(settled)
    same = again.outcome if dice.random() < 0.3 else values.outcome(dice, dice.choice(("complete", "error")))
    assert same is not None and not world.history.settle(again.call.id, same)
    return True


def late(world: World, dice: Random) -> bool:
    """A result for a call whose turn is sealed."""
    sealed = world.calls(open=False)
    if not sealed:
        return False
    before = world.history.ledger[call_id := dice.choice(sealed)]
    assert not world.history.settle(call_id, values.outcome(dice))
    assert world.history.ledger[call_id] == before
    return True


def rewound(world: World, dice: Random) -> bool:
    """A result for a call that a rewind has undone."""
    ever = [
        call.id for turn in world.history.entries if isinstance(turn, ModelTurn) for call in turn.tool_calls
    ]
    undone = [call_id for call_id in ever if call_id not in world.history.ledger]
    if not undone:
        return False
    assert not world.history.settle(dice.choice(undone), values.outcome(dice))
    return True


def start(world: World, dice: Random) -> bool:
    waiting = [item.call.id for item in world.history.open_calls if not item.started]
    if not waiting:
        return False
    world.history.start(dice.choice(waiting), dice.choice((None, None, {"path": "changed"})))
    return True


def _settled(world: World, dice: Random, waiting: list[str], outcome: Outcome) -> bool:
    if not waiting:
        return False
    assert world.history.settle(dice.choice(waiting), outcome)
    return True


def _open_items(world: World) -> list[Any]:
    turn = world.history.open_turn
    return list(world.history.ledger.of_turn(turn)) if turn is not None else []


# ---- the conversation is cut, copied, lost and found


def seal(world: World, dice: Random) -> bool:
    """A request is sent."""
    world.history.seal()
    return True


def crash(world: World, dice: Random) -> bool:
    """The process dies; the log is read again."""
    entries, key = list(world.history.entries), world.history.key
    world.become(History.replay(entries, key, system=SYSTEM, tools=TOOLS), heard=True)
    return True


def restore(world: World, dice: Random) -> bool:
    """The log is read from disk, by a version that may not know all of it."""
    lines = dump_history(world.history)
    if dice.random() < 0.5:
        lines += b'{"type":"something_newer","about":"what is not known yet"}\n'
    world.become(load_history(lines), heard=False)
    world._heard = len(world.history.diagnostics) - (lines.count(b"something_newer") > 0)
    return True


def compact(world: World, dice: Random) -> bool:
    return not world.history.summary and _compacted(world, dice)


def compact_again(world: World, dice: Random) -> bool:
    return bool(world.history.summary) and _compacted(world, dice)


def pin(world: World, dice: Random) -> bool:
    return _compacted(world, dice, pins=2)


def _compacted(world: World, dice: Random, pins: int = 0) -> bool:
    keys = [turn.key for turn in world.history.turns]
    if len(keys) < 3:
        return False
    cut = dice.randrange(len(keys))
    pinned = dice.sample(keys[: cut + 1], min(pins, cut + 1))
    world.history.compact(keys[cut], dice.choice(("what was said", "", "\ud800 so far")), pinned=pinned)
    return True


def shorten(world: World, dice: Random) -> bool:
    known = [item.call.id for item in world.history.ledger]
    if not known:
        return False
    chosen = dice.sample(known, min(len(known), 2))
    world.history.compact(shortened={call_id: dice.choice(("short", "", "\udc00")) for call_id in chosen})
    return True


def rewind(world: World, dice: Random) -> bool:
    standing = [entry.key for entry in world.history.standing if hasattr(entry, "key")]
    if not standing:
        return False
    recent = standing[-4:] if dice.random() < 0.7 else standing
    world.history.rewind(dice.choice(recent) if dice.random() < 0.95 else "")
    return True


def fork(world: World, dice: Random) -> bool:
    """Go on in a fork; what the parent was must not change any more."""
    parent = world.history
    standing = [entry.key for entry in parent.standing if hasattr(entry, "key")]
    at = dice.choice(standing) if standing and dice.random() < 0.5 else None
    world.parents = [(parent, list(parent.entries)), *world.parents[:1]]
    world.become(parent.fork(world.new_key(), at), heard=True)
    return True


# ---- what is refused


def refused(world: World, dice: Random) -> bool:
    """Writing what the rules forbid raises, and changes nothing."""
    entries, told = list(world.history.entries), list(world.history.diagnostics)
    state = dump_history(world.history)
    with pytest.raises(UsageError):
        dice.choice(list(_forbidden(world)))()
    assert world.history.entries == entries and world.history.diagnostics == told
    assert dump_history(world.history) == state
    return True


def _forbidden(world: World) -> Iterator[Callable[[], Any]]:
    history = world.history
    key = "never-used"
    yield lambda: history.append(UserTurn("a|b", (Text("x"),)))
    yield lambda: history.append(UserTurn(key, (ToolCall("hist_tool_x", "read"),)))
    yield lambda: history.append(ModelTurn(key, world.origin, (ToolCall("not canonical", "read"),)))
    yield lambda: history.settle("hist_tool_nobody_made_it", Outcome("complete"))
    yield lambda: history.start("hist_tool_nobody_made_it")
    yield lambda: history.compact("no such turn", "summary")
    yield lambda: history.compact()
    yield lambda: history.compact(shortened={"hist_tool_nobody_made_it": "short"})
    yield lambda: history.rewind("no such turn")
    yield lambda: history.fork(history.key)
    if history.turns:
        yield lambda: history.append(UserTurn(history.turns[-1].key, (Text("x"),)))
    if known := [item.call for item in history.ledger]:
        yield lambda: history.append(ModelTurn(key, world.origin, (known[-1],)))
        yield lambda: history.append(
            ModelTurn(key, world.origin, (ToolCall("hist_tool_q", "a"), ToolCall("hist_tool_q", "b")))
        )
    if settled := [item.call.id for item in history.ledger if item.outcome]:
        yield lambda: history.start(settled[-1])


# ---- the door


def door(world: World, dice: Random) -> bool:
    """The conversation comes back from elsewhere, damaged, in some format."""
    fresh = doors.ingested(world.history, dice, world.new_key())
    fresh.tools = world.history.tools
    world.become(fresh, heard=False)
    return True


STEPS: dict[str, tuple[Step, int]] = {
    "user": (user, 11),
    "system": (system, 3),
    "says": (says, 8),
    "calls": (calls, 20),
    "draft": (draft, 2),
    "switch": (switch, 6),
    "result": (result, 40),
    "error": (error, 9),
    "cancel": (cancel, 14),
    "deny": (deny, 8),
    "replaced": (replaced, 50),
    "duplicate": (duplicate, 12),
    "late": (late, 3),
    "rewound": (rewound, 6),
    "start": (start, 14),
    "seal": (seal, 7),
    "crash": (crash, 3),
    "restore": (restore, 2),
    "compact": (compact, 2),
    "compact_again": (compact_again, 14),
    "pin": (pin, 2),
    "shorten": (shorten, 2),
    "rewind": (rewind, 3),
    "fork": (fork, 2),
    "refused": (refused, 2),
    "door": (door, 2),
}
KINDS = tuple(STEPS)
WEIGHTS = tuple(weight for _, weight in STEPS.values())


def play(world: World, dice: Random, kind: str = "") -> str:
    """One step, of that kind or of one that is possible now; gives its kind, "" if it was not possible."""
    chosen = kind or dice.choices(KINDS, WEIGHTS)[0]
    while not STEPS[chosen][0](world, dice):
        if kind:
            return ""
        chosen = dice.choices(KINDS, WEIGHTS)[0]
    world.steps[chosen] += 1
    world.listen()
    return chosen


def conversation(seed: int, after_step: Callable[[World, str], None] | None = None) -> World:
    """A whole random conversation; the same seed gives the same one."""
    dice = Random(seed)
    world = World(f"w{seed}")
    if dice.random() < 0.5:  # half of them begin at the door
        world.become(doors.ingested(None, dice, world.new_key()), heard=False)
        world.steps["door"] += 1
        world.listen()
    for _ in range(dice.randrange(12, 40)):
        kind = play(world, dice)
        if after_step is not None:
            after_step(world, kind)
    return world
