"""A session at work in a process that will be killed.

It writes down, with one write each, what its user has seen (`seen`: how many entries there
were and a hash over them) and what its tools have done (`done`: the id of the call).
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from turnout.history.codec import encode_entry
from turnout.model import Entry, Settled
from turnout.session import durability as keeping
from turnout.session.events import Complete, Failed
from turnout.session.session import Session
from turnout.simulate import Call, Say, ScriptedModel
from turnout.store import Store
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool
from turnout.world.world import World

PROMPTS = ("Look at everything.", "And again?")
TARGETS = ("openai:gpt-5.1", "anthropic:claude-sonnet-4-5")
SCRIPT = [
    [Say("I look. " * 20), Call("work", {"n": 1}), Call("work", {"n": 2}), Call("slowly", {"n": 3})],
    [Call("work", {"n": 4})],
    "There is nothing here. " * 10,
]


class Witness:
    """What was seen and done, on files that outlive the process."""

    def __init__(self, folder: Path) -> None:
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY
        self._seen = os.open(folder / "seen", flags, 0o600)
        self._done = os.open(folder / "done", flags, 0o600)

    def saw(self, count: int, digest: str) -> None:
        os.write(self._seen, f"{count} {digest}\n".encode())

    def did(self, call_id: str) -> None:
        os.write(self._done, f"{call_id}\n".encode())

    def close(self) -> None:
        os.close(self._seen)
        os.close(self._done)


def digest(entries: Iterable[bytes]) -> str:
    hashed = sha256()
    for entry in entries:
        hashed.update(entry + b"\n")
    return hashed.hexdigest()


def tools(witness: Witness) -> list[Any]:
    """Two tools whose work can be counted; neither may run twice."""

    @tool(risk="read")
    async def work(ctx: ToolContext, n: int) -> str:
        """Do something that must not be done twice."""
        witness.did(ctx.call_id)
        return f"done {n}"

    @tool(risk="read")
    async def slowly(ctx: ToolContext, n: int) -> str:
        """Do something that takes a while."""
        witness.did(ctx.call_id)
        await asyncio.sleep(0.005)
        return f"done {n}"

    return [work, slowly]


def written_entries(session: Session, event: Any) -> list[Entry]:
    """The entries that the store has acknowledged; what the event shows must be among them."""
    entries = session.history.entries
    written = entries[: len(entries) - store_of(session).journal("s").unwritten_count]
    match event:
        case ToolResult(call_id=shown):
            assert any(isinstance(entry, Settled) and entry.call_id == shown for entry in written), event
        case Complete(turn=turn):
            assert turn in written, event
    return written


def store_of(session: Session) -> Store:
    assert session.store is not None
    return session.store


async def work(
    folder: Path, prompts: Iterable[str] = PROMPTS, make: Callable[[Path], Store] = Store
) -> list[str]:
    """Go on with the session, or begin it; what it answered."""
    keeping.DRAFT_EVERY = 0.001
    witness, store = Witness(folder), make(folder / "s.db")
    answers = []
    try:
        for at, prompt in enumerate(prompts):
            model = ScriptedModel(SCRIPT)
            given = {"tools": tools(witness), "world": World(transport=model, environment={}), "api_key": "k"}
            async with Session(TARGETS[at % 2], store=store, id="s", **given) as session:
                events = session.run(prompt) if prompt else session.go_on()
                async for event in events:
                    written = written_entries(session, event)
                    witness.saw(len(written), digest(map(encode_entry, written)))
                    if isinstance(event, Complete):
                        answers.append(event.turn.text)
                    assert not isinstance(event, Failed), event
    finally:
        store.close()
        witness.close()
    return answers


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
