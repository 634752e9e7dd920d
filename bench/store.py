"""What durability costs: an append beside a bare commit, batches, many sessions, long ones.

Appends and bare commits are made in turn, in wall time on the same disk, and medians are
compared: what a sync takes depends on the disk and on who else uses it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import apsw

from bench.measure import best, print_table
from turnout import History, Outcome, ToolCall
from turnout.history.codec import encode_entry
from turnout.model import Text, UserTurn
from turnout.store import SessionHeader, Store, Tally
from turnout.store.journal import Journal
from turnout.store.sqlite.log import SqliteLog
from turnout.store.summary_of_entries import tally_of

ROUNDS = 300
SESSIONS = 10_000
WORDS = "something that was said " * 12


def bare(path: Path) -> Callable[[], object]:
    """The least that is durable: one row, one commit, with the same settings."""
    connection = apsw.Connection(str(path))
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    connection.execute("CREATE TABLE entry (number INTEGER PRIMARY KEY, data BLOB)")
    data = encode_entry(UserTurn("h.1", (Text(WORDS),)))
    return lambda: connection.execute("INSERT INTO entry (data) VALUES (?)", (data,))


def in_turn(*works: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The median time of each, made one after the other again and again."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, spent in zip(works, times, strict=True):
            start = perf_counter()
            work()
            spent.append(perf_counter() - start)
    return [median(spent) for spent in times]


def settled(history: History, journal: Journal, *, together: bool) -> float:
    """Seconds until five outcomes are on the disk: each by a commit of its own, or all by one."""
    turn = history.reply("openai:gpt-5.1", [ToolCall(f"c{n}", "f", {}) for n in range(5)])
    history.commit()
    start = perf_counter()
    journal.patient = together
    for call in turn.tool_calls:
        history.settle(call.id, Outcome("complete", WORDS))
    history.commit()
    journal.patient = True
    return perf_counter() - start


def appends(folder: Path) -> list[tuple[str, str]]:
    with Store(folder / "a.db") as store:
        history = store.open("s")
        floor, entry = in_turn(bare(folder / "bare.db"), lambda: history.user(WORDS))
        store.release("s")
        history = store.open("t")
        history.user("go")
        journal = store.journal("t")
        journal.patient = True
        apart = median(settled(history, journal, together=False) for _ in range(ROUNDS // 5))
        together = median(settled(history, journal, together=True) for _ in range(ROUNDS // 5))
    return [
        ("a bare durable commit of apsw", f"{floor * 1e6:.0f} µs"),
        ("a durable append", f"{entry * 1e6:.0f} µs"),
        ("ratio (at most 1.5)", f"{entry / floor:.2f}"),
        ("five outcomes, each committed", f"{apart * 1e6:.0f} µs"),
        ("five outcomes in one commit", f"{together * 1e6:.0f} µs"),
    ]


def many(folder: Path) -> list[tuple[str, str]]:
    store = Store(folder / "many.db", heartbeat=False)
    history = History("x")
    history.user(WORDS)
    history.reply("openai:gpt-5.1", WORDS)
    lines, line = [encode_entry(entry) for entry in history.entries], tally_of(history.entries)
    _fill(store, lines, line)
    begin = perf_counter()
    store.search("nothing")
    indexed = perf_counter() - begin
    opening = in_turn(lambda: (store.open("s77"), store.release("s77")), rounds=30)[0]
    rows = [
        (f"list 20 of {SESSIONS:,} sessions", best(lambda: store.list(limit=20))),
        (f"list all {SESSIONS:,}", best(store.list)),
        ("open one of them and let it go", opening),
        (f"index {SESSIONS:,} sessions at the first search", indexed),
        ("search them", best(lambda: store.search("something said", 20))),
    ]
    store.close()
    return [(name, f"{spent * 1e3:.1f} ms") for name, spent in rows]


def _fill(store: Store, lines: list[bytes], line: Tally) -> None:
    """Many sessions, without a sync for each."""
    log = store.log
    assert isinstance(log, SqliteLog)
    with log.database.read_connection() as connection:
        connection.execute("PRAGMA synchronous=OFF").fetchall()
        for number in range(SESSIONS):
            log.add(SessionHeader(f"s{number}"), lines, line)
        connection.execute("PRAGMA synchronous=FULL").fetchall()


def long(folder: Path) -> list[tuple[str, str]]:
    """Going on with a long session: half as long, half the time."""
    rows = []
    times = []
    with Store(folder / "long.db", heartbeat=False) as store:
        for turns in (5_000, 10_000):
            history = History(f"h{turns}")
            for number in range(turns // 2):
                history.user(f"question {number}")
                turn = history.reply(
                    "openai:gpt-5.1", ["I look.", ToolCall(f"c{number}", "f", {"n": number})]
                )
                history.settle(turn.tool_calls[0].id, Outcome("complete", WORDS))
            store.add(history)
            times.append(best(lambda key=history.key: (store.open(key), store.release(key)), tries=3))  # type: ignore[misc]
            rows.append((f"resume a session of {turns:,} turns", f"{times[-1] * 1e3:.0f} ms"))
    return [*rows, ("ratio (2.0 is linear)", f"{times[1] / times[0]:.2f}")]


def run() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print_table(("what", "figure"), [*appends(folder), *many(folder), *long(folder)])
