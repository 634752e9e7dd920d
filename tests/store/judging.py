"""What must be true of a session after its process was killed, and of its going on."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from tests.laws.targets import TARGETS
from tests.store.working import digest, work

from turnout import check, render
from turnout.history.check import violations
from turnout.history.log import History
from turnout.model import Started
from turnout.store import Store


def judge(folder: Path) -> list[str]:
    """Everything that is wrong with what a killed process left; nothing when all is well."""
    if not (folder / "s.db").exists():
        return ["seen, and not stored"] if _lines(folder / "seen") else []
    found = list(_stored(folder))
    with Store(folder / "s.db", heartbeat=False) as store:
        history = store.open("s")
        found += [f"after resume: {fault.code} {fault.detail}" for fault in violations(history)]
        found += _unmeant(folder, history)
        found += _refused(history)
    asyncio.run(work(folder, [""] if history.open_calls else ["Go on."]))
    return found + [f"{call} was done {times} times" for call, times in _done(folder).items() if times > 1]


def _stored(folder: Path) -> list[str]:
    with Store(folder / "s.db", heartbeat=False) as store:
        found = [f"integrity: {problem}" for problem in store.check()]
        entries = store.log.load("s").entries if store.knows("s") else ()
        history = store.read("s") if store.knows("s") else History("s")
    found += [f"{note.code}: {note.detail}" for note in history.diagnostics]
    for line in _lines(folder / "seen"):
        count, hashed = line.split()
        if digest(entries[: int(count)]) != hashed:
            found.append(f"{count} entries were seen; of {len(entries)} stored these are not the same")
    return found


def _unmeant(folder: Path, history: History) -> list[str]:
    """Effects without an intent on record."""
    meant = {entry.call_id for entry in history.entries if isinstance(entry, Started)}
    return [f"{call} was done and never started" for call in _done(folder) if call not in meant]


def _refused(history: History) -> list[str]:
    history.user("and now?") if not history.turns else None
    return [
        f"{place.origin}: {problem.rule} {problem.answer}"
        for place in TARGETS
        if not place.provider.envelope
        for problem in check(place.provider.name, render(history, place).body, model=place.model)
    ]


def _done(folder: Path) -> Counter[str]:
    return Counter(_lines(folder / "done"))


def _lines(path: Path) -> list[str]:
    """Whole lines: each was one write, so only the last can be cut."""
    if not path.exists():
        return []
    return [line.decode() for line in path.read_bytes().split(b"\n")[:-1]]
