"""The next turn of a long session, from the history to the bytes of the request.

Everyone gets the same session in their own words, outside the clock. A peer is asked for
its next request and stopped at its HTTP transport, which answers with one word; the same
call with an all but empty session is measured alone and taken off, so that what is left is
the session and not the client, the answer or the event loop. The SDKs are given what they
send, so they translate nothing; all others start from their own kind of history.

A turn of turnout is what a user's turn is: append a call with its result, render, get the
bytes. `cold` means that the caches of the processor were filled with something else before.
The ratios are to the cold turn, the lowest and the highest of three runs.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from bench import conversation, plain
from bench.measure import RUNS, milliseconds, print_table, spread
from bench.render_peers import Peer, peers
from turnout import History, render

MESSAGES = 1_000
ROUNDS = 3
TURNS = 8  # of turnout's own in each round: they are too short to be measured once

TARGETS = {
    "openai": "openai:gpt-5.1",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-2.5-pro",
    "openai-responses": "openai-responses:gpt-5.1",
}
PLAIN, FIRST = "plain msgspec build", "turnout, first render"
COLD, HOT = "turnout, next turn, cold", "turnout, next turn, hot"


def run() -> None:
    for protocol in ("openai", "anthropic", "gemini"):
        print(f"\n### {protocol}: history to request bytes, {MESSAGES:,} messages\n")
        _beside_the_peers(protocol)
    print("\n### What one turn costs as the session grows\n")
    _as_it_grows()
    print("\n### First render of the session beside the plain build\n")
    _first_renders()


def timed(work: Callable[[], object]) -> float:
    gc.collect()
    start = process_time()
    work()
    return process_time() - start


# Beside the peers


class Racer:
    """A peer with its session, long and all but empty."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.long = peer.session(MESSAGES)
        self.short = peer.session(0)

    def laps(self) -> Iterator[tuple[str, float]]:
        yield self.peer.name, timed(lambda: self.peer.send(self.long))
        yield f"{self.peer.name}, empty", timed(lambda: self.peer.send(self.short))


def _beside_the_peers(protocol: str) -> None:
    entered = [_entered(peer) for peer in peers(protocol)]
    racers = [entry for entry in entered if isinstance(entry, Racer)]
    gc.collect()
    gc.freeze()  # what is loaded by now would be looked through at every collection, by everyone
    runs = [_fastest_laps(protocol, racers) for _ in range(RUNS)]
    gc.unfreeze()
    _print(runs, racers, [entry for entry in entered if isinstance(entry, tuple)])


def _fastest_laps(protocol: str, racers: list[Racer]) -> dict[str, float]:
    """Each side's best time of one run, in which all take their turn."""
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, spent in (*_turnout(protocol), *(lap for racer in racers for lap in racer.laps())):
            times.setdefault(name, []).append(spent)
    return {name: min(spent) for name, spent in times.items()}


def _entered(peer: Peer | tuple[str, str]) -> Racer | tuple[str, str]:
    """The peer made ready, once it has shown that it sends the whole session; or why it cannot run."""
    if isinstance(peer, tuple):
        return peer
    try:
        racer = Racer(peer)
        peer.send(racer.short)
        peer.send(racer.long)
    except Exception as error:  # whatever a library raises, its row says so
        return peer.name, f"{type(error).__name__}: {error}"
    calls = sum(step.calls for step in conversation.steps(MESSAGES))
    told = peer.wire.sent.count(b"src/package/module_")
    return racer if told == calls else (peer.name, f"sends {told} of {calls} calls")


def _turnout(protocol: str) -> Iterator[tuple[str, float]]:
    target, build = TARGETS[protocol], plain.BUILDS[protocol]
    history = conversation.history(MESSAGES)
    yield PLAIN, timed(lambda: build(history))
    history = conversation.history(MESSAGES)
    yield FIRST, timed(lambda: render(history, target))
    for number in range(TURNS):
        _cool()
        yield COLD, next_turn(history, target, number)
    for number in range(TURNS, 2 * TURNS):
        yield HOT, next_turn(history, target, number)


def next_turn(history: History, target: str, number: int) -> float:
    """Seconds to append a call and its result, and to render the request that follows."""
    step = conversation.call(900_000 + number)
    start = process_time()
    conversation.take(history, step)
    render(history, target)
    return process_time() - start


def _print(runs: list[dict[str, float]], racers: list[Racer], missing: list[tuple[str, str]]) -> None:
    fastest = {name: min(run[name] for run in runs) for name in runs[0]}
    names = [racer.peer.name for racer in racers]
    cost = {name: [run[name] - run[f"{name}, empty"] for run in runs] for name in names}
    ratios = {
        name: [spent / run[COLD] for spent, run in zip(cost[name], runs, strict=True)] for name in names
    }
    rows: list[tuple[Any, ...]] = [
        (name, milliseconds(min(cost[name])), milliseconds(fastest[f"{name}, empty"]), spread(ratios[name]))
        for name in sorted(names, key=lambda name: min(cost[name]))
    ]
    rows += [(name, f"not measured: {why[:100]}", "", "") for name, why in missing]
    rows += [
        (name, milliseconds(fastest[name]), "", spread([run[name] / run[COLD] for run in runs]))
        for name in (PLAIN, FIRST, COLD, HOT)
    ]
    print_table(("who", "ms CPU", "taken off: an all but empty call", "times turnout's cold turn"), rows)
    if names:
        best = min(names, key=lambda name: min(cost[name]))
        print(
            f"\nThe best peer, {best}, takes {spread(ratios[best])} times as long as turnout's next turn "
            f"at {MESSAGES:,} messages, with the append and with cold caches."
        )


# turnout alone


def _as_it_grows() -> None:
    sizes = (100, 1_000, 10_000)
    rows = []
    for target in TARGETS.values():
        cells = [cell for messages in sizes for cell in _cells(target, messages)]
        rows.append((target, *cells))
    parts = ("turn", "copy", "rest")
    print_table(("µs CPU", *(f"{size:,}: {part}" for size in sizes for part in parts)), rows)
    print(
        "\nAppend and render, with cold caches. `copy` is one copy of a body of that size; "
        "`rest` is turn less copy."
    )


def _cells(target: str, messages: int, rounds: int = 40) -> tuple[str, str, str]:
    history = conversation.history(messages)
    kept = bytearray(render(history, target).body)
    result = conversation.call(0).result.encode()
    turns, copies = [], []
    for number in range(rounds):
        _cool()
        turns.append(next_turn(history, target, number))
        _cool()
        start = process_time()
        kept += result  # a body that grows is a new piece of memory every time
        bytes(kept)
        copies.append(process_time() - start)
    turn, copy = _middle(turns), _middle(copies)
    return f"{turn * 1e6:.0f}", f"{copy * 1e6:.0f}", f"{(turn - copy) * 1e6:.0f}"


OTHER_DATA = bytes(16_000_000)


def _cool() -> None:
    """Fill the caches of the processor with something else, as a large copy would."""
    bytearray(OTHER_DATA)


def _middle(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def _first_renders() -> None:
    rows = []
    for protocol, target in TARGETS.items():
        plains, firsts = [], []
        for _ in range(8):
            history = conversation.history(MESSAGES)
            plains.append(timed(lambda: plain.BUILDS[protocol](history)))  # noqa: B023
            history = conversation.history(MESSAGES)
            firsts.append(timed(lambda: render(history, target)))  # noqa: B023
        reference, ours = min(plains), min(firsts)
        rows.append((target, milliseconds(reference), milliseconds(ours), f"{ours / reference:.2f}"))
    print_table(("target", "plain build, ms", "first render, ms", "ratio (at most 3)"), rows)
