"""What a worker does with one prompt: open the session, run or go on, give back how it ended.

It may be called twice for the same prompt, by two workers: the key of the prompt makes it said once, the
lease makes one of them the writer, and the other one waits and gives the same result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from ..errors import SessionHeld, StoreError, TurnoutError
from ..history.log import History
from ..history.waiting import UNFINISHED
from ..model import ModelTurn
from ..session.events import Cancelled, Complete, Failed, Terminal, Waiting
from ..session.session import Session
from ..store import Store

SessionFor: TypeAlias = Callable[[str, Store], Session | Awaitable[Session]]
"""The user's function: the session with this id, in this store."""

PATIENCE = 0.2
"""Seconds until a session that another process has open is tried again."""


async def finish_prompt(
    session_for: SessionFor, store: Store, session: str, prompt: str, key: str
) -> dict[str, Any]:
    """Finish a prompt, however often it was begun; an empty prompt goes on where the session stopped."""
    while True:
        try:
            ended = await _run_once(session_for, store, session, prompt, key)
        except SessionHeld:  # another worker has it: wait for what comes of it
            await asyncio.sleep(PATIENCE)
            continue
        if isinstance(ended, Failed) and isinstance(ended.error, StoreError):
            await asyncio.sleep(PATIENCE)  # taken over, or the database is away
            continue
        return result_of(session, ended)


async def _run_once(session_for: SessionFor, store: Store, id: str, prompt: str, key: str) -> Terminal:
    made = session_for(id, store)
    opened = made if isinstance(made, Session) else await made
    async with opened:
        if prompt:
            return await opened.run(prompt, key=key)
        if (answer := finished_answer(opened.history)) is not None:
            return Complete(answer, opened.usage, opened.cost)
        return await opened.go_on()


def finished_answer(history: History) -> ModelTurn | None:
    """The last reply, where nothing is left to do after it."""
    last = history.turns[-1] if history.turns else None
    if not isinstance(last, ModelTurn) or last.tool_calls or last.stop in UNFINISHED:
        return None
    return last


def result_of(session: str, ended: Terminal) -> dict[str, Any]:
    """How a run ended, as plain values. A failure is raised, so that the engine shows it as one."""
    match ended:
        case Complete(turn):
            return {"session": session, "status": "complete", "text": turn.text, "cost": ended.cost}
        case Waiting(calls):
            waits = [{"call_id": call.call_id, "name": call.name, "kind": call.kind} for call in calls]
            return {"session": session, "status": "waiting", "text": ended.detail, "calls": waits}
        case Cancelled():
            return {"session": session, "status": "cancelled", "text": ended.detail}
        case Failed(error):
            raise TurnoutError(str(error)) from error
