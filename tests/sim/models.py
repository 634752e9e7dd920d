"""Models that do what models do, and some that do what no model should."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec

from turnout.model import Usage
from turnout.simulate import Call, Ends, Hosted, Say, SimulatedRequest, Think

Model = Callable[[SimulatedRequest], list[Any]]

WORDS = ("Well.", "I see — naïve 🙂 日本語.", "Let me look.\n\n  Twice.", "<think>odd</think> end", "0")
UNKNOWN = ("rm_rf", "Paint ", "functions.note", "", "weather", "工具", "x" * 200)
RAW = ("", "{", "null", "[]", '"{\\"n\\": 1}"', '{"n": 1', "{}{}", '{"n": "\\ud800"}', "not json at all")


def calls_are_off(asked: SimulatedRequest) -> bool:
    """Whether the request says that no tool may be called."""
    return not asked.may_call


def good_call(dice: random.Random) -> Call:
    n = dice.randrange(5)
    return dice.choice(
        [
            Call("note", {"n": n}),
            Call("note", {"n": n, "text": "é" * dice.randrange(4)}),
            Call("change", {"path": f"f{n % 2}", "n": n}),
            Call("slow", {"seconds": dice.choice([0.01, 1, 30])}),
            Call("big", {"size": dice.choice([10, 3_000, 60_000])}),
            Call("picture", {}),
            Call("steps", {"count": n}),
            Call("plain", {"n": n}),
            Call("trouble", {"kind": dice.choice(TROUBLE)}),
        ]
    )


TROUBLE = (
    "ValueError",
    "SystemExit",
    "KeyboardInterrupt",
    "CancelledError",
    "GeneratorExit",
    "StopAsyncIteration",
    "hang",
    "stubborn",
    "late",
    "calls",
    "surrogates",
    "nothing",
)


def ordinary(dice: random.Random) -> Model:
    """Thinks, speaks, calls a few tools, and comes to an end."""

    def say(asked: SimulatedRequest) -> list[Any]:
        thinking = [Think(f"Thought {dice.randrange(99)}", hidden=dice.random() < 0.2)]
        hosted = [Hosted(arguments={"q": "x"}, result="found")] if dice.random() < 0.05 else []
        calls = [] if calls_are_off(asked) else [good_call(dice) for _ in range(dice.choice([0, 0, 1, 2, 4]))]
        text = [Say(dice.choice(WORDS))] if dice.random() < 0.7 or not calls else []
        ends = [Ends(dice.choice(["length", "paused", "refused"]))] if dice.random() < 0.05 else []
        counted = [Usage(input=dice.randrange(300_000), output=9)] if dice.random() < 0.1 else []
        return [*(thinking if dice.random() < 0.5 else ()), *hosted, *text, *calls, *ends, *counted]

    return say


def looper(dice: random.Random) -> Model:
    """Makes the same call, or the same two, again and again."""
    circle = [[Call("note", {"n": n})] for n in range(dice.choice([1, 2, 3]))]
    at = iter(range(10**9))
    return lambda asked: ["Enough."] if calls_are_off(asked) else circle[next(at) % len(circle)]


def spawner(dice: random.Random) -> Model:
    """Gives every task away."""

    def say(asked: SimulatedRequest) -> list[Any]:
        if calls_are_off(asked) or dice.random() < 0.1:
            return ["Done."]
        many = [
            Call("task", {"prompt": "deeper", "background": dice.random() < 0.3})
            for _ in range(dice.choice([1, 3]))
        ]
        after = dice.choice([[], [Call("task_list")], [Call("task_wait", {"id": "task-1"})]])
        return [*many, *after, *([Call("task_stop", {"id": "task-2"})] if dice.random() < 0.2 else [])]

    return say


def careless(dice: random.Random) -> Model:
    """Writes arguments that do not fit, names that do not exist, JSON that is none."""

    def say(asked: SimulatedRequest) -> list[Any]:
        if calls_are_off(asked):
            return ["I cannot."]
        return [
            dice.choice(
                [
                    Call("note", {}),
                    Call("note", {"n": "three", "more": [None]}),
                    Call("rm_rf" if "gemini" in asked.model else dice.choice(UNKNOWN), {"n": 1}),
                    Call("note", raw=dice.choice(RAW)),
                    good_call(dice),
                ]
            )
            for _ in range(dice.choice([1, 2, 5]))
        ]

    return say


def defiant(dice: random.Random) -> Model:
    """Calls tools whether they are on or off."""
    return lambda asked: [Say("I insist."), good_call(dice)]


def babbler(dice: random.Random) -> Model:
    """Says far too much, calls far too often, or says nothing at all."""

    def say(asked: SimulatedRequest) -> list[Any]:
        match dice.randrange(5):
            case 0:
                return [Say("word " * 3_000)]
            case 1:
                return [] if calls_are_off(asked) else [Call("note", {"n": n}) for n in range(30)]
            case 2:
                return [Say("")]
            case 3:
                return [] if calls_are_off(asked) else [Call("note", {"n": 1, "text": "long " * 2_000})]
            case _:
                return [Think("hm"), Say("   ")]

    return say


def foreman(dice: random.Random) -> Model:
    """Gives parts of the work to subagents, all at once, and they and it work on the same two files."""

    def say(asked: SimulatedRequest) -> list[Any]:
        if calls_are_off(asked):
            return ["Enough."]
        if "part" in asked.user or "task" not in asked.tools or dice.random() < 0.2:
            return [] if dice.random() < 0.2 else [handwork(dice) for _ in range(dice.choice([1, 2, 5]))]
        parts = [
            Call("task", {"prompt": f"part {n}", "background": dice.random() < 0.3})
            for n in range(dice.choice([2, 3, 4]))
        ]
        own = [handwork(dice) for _ in range(dice.choice([0, 1, 3]))]
        after = [Call("task_wait", {"id": "task-1"})] if dice.random() < 0.3 else []
        return [*parts, *own, *after, *([Call("task_stop", {"id": "task-2"})] if dice.random() < 0.2 else [])]

    return say


def handwork(dice: random.Random) -> Call:
    """A call on the files that everyone works on, or a command."""
    n = dice.randrange(10)
    return dice.choice(
        [
            Call("edit", {"path": f"f{n % 2}", "n": n}),
            Call("edit", {"path": f"f{n % 2}", "n": n}),
            Call("change", {"path": f"f{n % 2}", "n": n}),
            Call("command", {"line": f"look {n}"}),
            Call("command", {"line": f"look {n}"}),
            Call("command", {"line": f"work {n}"}),
            Call("job", {}),
        ]
    )


def repeater(dice: random.Random) -> Model:
    """Gives the same id to calls of one reply, and to calls of one reply after the other.

    No two calls of one reply are the same to the last letter: from Gemini, that is one that came twice.
    """

    def say(asked: SimulatedRequest) -> list[Any]:
        if calls_are_off(asked) or dice.random() < 0.15:
            return ["That was all."]
        ids = dice.choice([["call_1"], ["call_1", "call_2"], [f"c{n}" for n in range(9)]])
        calls = [handwork(dice) for _ in range(dice.choice([1, 2, 4]))]
        named = [msgspec.structs.replace(call, id=dice.choice(ids)) for call in calls]
        return [call for at, call in enumerate(named) if call not in named[:at]]

    return say


def moody(dice: random.Random) -> Model:
    """Is each of the others by turns."""
    moods = [mood(dice) for mood in (ordinary, ordinary, looper, careless, defiant, babbler)]
    return lambda asked: dice.choice(moods)(asked)


CROWD = (foreman, foreman, repeater)
PERSONAS = (ordinary, ordinary, moody, looper, spawner, careless, defiant, babbler)
