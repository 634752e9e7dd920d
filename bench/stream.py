"""From the bytes of a stream to the finished turn, every event given out on the way.

The floor splits lines and decodes each JSON payload with msgspec, and nothing else. All
sides take their turn in every round, and the best of several rounds counts, so the ratios
hold on a busy machine. The peers are slow enough for a smaller stream; per event is what
is compared. The official SDKs are read in both of their public ways: `.stream()`, which puts
the reply together, and the lighter `create(stream=True)`, which leaves that to the caller.
Ratios are given as the lowest and the highest of three runs.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import msgspec

import turnout
from bench.measure import RUNS, alternate, milliseconds, print_table, spread
from bench.stream_peers import Reader, readers
from bench.streams import CALLS, STREAMS, cut, one_event, payloads
from turnout.targets.reply import ReplyReader

SIZES = (1_000_000, 20_000_000)
CHUNKS = (1_024, 8_192, 65_536)
PEERS_SIZE = 250_000
PEERS_CHUNK = 8_192

TARGETS = {
    "openai": "openai:gpt-5.1",
    "openai-responses": "openai-responses:gpt-5.1",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-2.5-pro",
}
FLOOR, SYNC, ASYNC = "floor", "turnout", "turnout.stream (async)"

decode = msgspec.json.Decoder().decode


def run() -> None:
    warnings.simplefilter("ignore")  # what peers have to say of themselves
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    print("### Bytes to finished turn, beside the floor\n")
    _beside_the_floor()
    for protocol in STREAMS:
        print(f"\n### {protocol}: beside the peers, {PEERS_SIZE // 1_000:,} KB in 8 KB chunks\n")
        _beside_the_peers(protocol)
    print("\n### One event of 10 MB\n")
    _one_long_event()


# The contestants


def floor(chunks: Iterable[bytes]) -> None:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data: {"):
                decode(line[6:])


def read(target: str, chunks: Iterable[bytes]) -> turnout.ModelTurn:
    reader = ReplyReader(target)
    for chunk in chunks:
        for _ in reader.feed(chunk):
            pass
    for _ in reader.close():
        pass
    return reader.reply.turn()


def read_later(target: str, chunks: Sequence[bytes]) -> None:
    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def walk() -> None:
        async for _ in turnout.stream(target, source()):
            pass

    asyncio.run(walk())


def _ours(protocol: str, chunks: Sequence[bytes]) -> dict[str, Callable[[], object]]:
    target = TARGETS[protocol]
    turn = read(target, chunks)
    assert len(turn.tool_calls) == CALLS and turn.text and turn.thinking and turn.stop == "tool_calls"
    return {
        FLOOR: lambda: floor(chunks),
        SYNC: lambda: read(target, chunks),
        ASYNC: lambda: read_later(target, chunks),
    }


# The tables


def _beside_the_floor() -> None:
    rows = []
    for protocol, make in STREAMS.items():
        for size in SIZES:
            data = make(size)
            events = payloads(data)
            for chunk in CHUNKS:
                spent = alternate(_ours(protocol, cut(data, chunk)), rounds=3)
                micro = [f"{spent[name] / events * 1e6:.2f}" for name in (FLOOR, SYNC, ASYNC)]
                what = (protocol, f"{len(data) / 1e6:.1f} MB", f"{events:,}", f"{chunk // 1_024} KB")
                rows.append((*what, *micro, f"{spent[SYNC] / spent[FLOOR]:.2f}"))
    head = (
        "protocol",
        "stream",
        "events",
        "chunks",
        "floor, µs an event",
        "turnout",
        "async",
        "turnout to floor",
    )
    print_table(head, rows)
    worst = max(float(row[-1]) for row in rows)
    print(f"\nAt most {worst:.2f} times the floor (3 is the limit).")


def _beside_the_peers(protocol: str) -> None:
    data = STREAMS[protocol](PEERS_SIZE)
    chunks, events = cut(data, PEERS_CHUNK), payloads(data)
    entered = [_entered(reader, chunks) for reader in readers(protocol)]
    peers = [entry for entry in entered if isinstance(entry, Reader)]
    work = {**_ours(protocol, chunks), **{peer.name: peer.read for peer in peers}}
    gc.collect()
    gc.freeze()  # what is loaded by now would be looked through at every collection, by everyone
    runs = [alternate(work, rounds=2) for _ in range(RUNS)]
    gc.unfreeze()
    spent = {name: min(run[name] for run in runs) for name in work}
    rows: list[tuple[Any, ...]] = [
        (name, f"{spent[name] / events * 1e6:.1f}", *_factors(runs, name))
        for name in sorted(spent, key=spent.__getitem__)
    ]
    rows += [(name, f"not measured: {why[:100]}", "", "") for name, why in _missing(entered)]
    print_table(("who", "µs an event", "to the floor", "to turnout"), rows)
    if peers:
        fastest = min((peer.name for peer in peers), key=spent.__getitem__)
        factors = spread([run[fastest] / run[SYNC] for run in runs])
        print(f"\nThe fastest library, {fastest}, takes {factors} times as long ({events:,} events).")


def _entered(reader: Reader | tuple[str, str], chunks: Sequence[bytes]) -> Reader | tuple[str, str]:
    """The reader with the stream before it, once it has shown that it finds every call."""
    if isinstance(reader, tuple):
        return reader
    reader.wire.chunks = chunks
    try:
        found = reader.read()
    except Exception as error:  # whatever a library raises, its row says so
        return reader.name, f"{type(error).__name__}: {error}"
    return reader if found == CALLS else (reader.name, f"finds {found} of {CALLS} calls")


def _missing(entered: Iterable[Reader | tuple[str, str]]) -> list[tuple[str, str]]:
    return [entry for entry in entered if isinstance(entry, tuple)]


def _factors(runs: Sequence[dict[str, float]], name: str) -> tuple[str, str]:
    floors = [run[name] / run[FLOOR] for run in runs]
    return spread(floors), spread([run[name] / run[SYNC] for run in runs])


def _one_long_event() -> None:
    data = one_event(10_000_000)
    small, large = cut(data, 4_096), cut(data, 65_536)
    work: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        SYNC: (lambda: read(TARGETS["openai"], small), lambda: read(TARGETS["openai"], large))
    }
    for reader in readers("openai"):
        if isinstance(reader, Reader):
            work[reader.name] = (_fed(reader, small), _fed(reader, large))
    rows = []
    for name, (in_small, in_large) in work.items():
        try:
            spent = alternate({"4": in_small, "64": in_large}, rounds=3)
        except Exception as error:  # whatever a library raises, its row says so
            rows.append((name, f"not measured: {type(error).__name__}", "", ""))
            continue
        ratio = f"{spent['4'] / spent['64']:.2f}"
        rows.append((name, milliseconds(spent["4"]), milliseconds(spent["64"]), ratio))
    print_table(("who", "in 4 KB chunks, ms", "in 64 KB chunks, ms", "ratio (1 is linear)"), rows)


def _fed(reader: Reader, chunks: Sequence[bytes]) -> Callable[[], object]:
    def work() -> object:
        reader.wire.chunks = chunks
        return reader.read()

    return work
