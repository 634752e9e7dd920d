"""An application for workers: sessions with a scripted model and tools that record each effect.

Its tools write the id of each call to the file `$TURNOUT_EFFECTS`, with one write and a sync, so that
what was done outlives the process. Every request is judged by the strict simulator; one that it would
refuse is written to `$TURNOUT_EFFECTS.refused`.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from turnout import Session, Store, ToolContext, World, tool
from turnout.session.settings import Approval
from turnout.simulate import Call, ScriptedModel

EFFECTS = os.environ.get("TURNOUT_EFFECTS", "/dev/null")
SLOW = float(os.environ.get("TURNOUT_SLOW", "0.15"))


def record(path: str, line: str) -> None:
    opened = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(opened, f"{line}\n".encode())
        os.fsync(opened)
    finally:
        os.close(opened)


@tool(risk="read")
async def work(ctx: ToolContext, n: int) -> str:
    """Do something that must not be done twice."""
    record(EFFECTS, ctx.call_id)
    await asyncio.sleep(SLOW)
    return f"done {n}"


@tool(risk="read")
def work_in_thread(ctx: ToolContext, n: int) -> str:
    """Do something that must not be done twice, in a thread."""
    record(EFFECTS, ctx.call_id)
    ctx.cancelled.wait(SLOW)
    if ctx.cancelled.is_set():
        record(f"{EFFECTS}.cancelled", ctx.call_id)
    return f"done {n}"


@tool(external=True)
async def pay(amount: int) -> str:
    """Pay; someone else does it."""
    raise AssertionError


@tool(risk="read")
async def pass_gate(ctx: ToolContext) -> str:
    """Wait until the gate is open, which is a file."""
    record(EFFECTS, ctx.call_id)
    while not os.path.exists(os.environ["TURNOUT_GATE"]):
        await asyncio.sleep(0.2)
    return "passed"


def usual_script() -> list[Any]:
    parallel = [Call("work", {"n": 1}), Call("work", {"n": 2}), Call("work_in_thread", {"n": 3})]
    return [parallel, [Call("work", {"n": 4})], "All done."]


def session_for(id: str, store: Store) -> Session:
    """The session of a run. What the model says next follows from what is in the log."""
    if id.startswith("pay"):
        script: list[Any] = [[Call("pay", {"amount": 5})], "Paid."]
    elif id.startswith("gate"):
        script = [[Call("pass_gate", {})], "Through."]
    elif id.startswith("quick"):
        script = ["Quick."]
    else:
        script = usual_script()
    done = replies_in(store, id)
    model = ScriptedModel(script[min(done, len(script) - 1) :] + ["All done."] * 50)
    session = Session(
        "openai:gpt-5.1",
        store=store,
        id=id,
        tools=[work, work_in_thread, pay, pass_gate],
        api_key="k",
        approval=Approval(defer=True),
        world=World(transport=model, environment={}),
    )
    closing = session.close

    async def close() -> None:
        for refusal in model.refusals:
            record(f"{EFFECTS}.refused", f"{id}: {refusal}")
        await closing()

    session.close = close  # type: ignore[method-assign]
    return session


def replies_in(store: Store, id: str) -> int:
    """How many whole replies the session has."""
    from turnout.model import ModelTurn

    if not store.knows(id):
        return 0
    turns = store.read(id).turns
    return sum(isinstance(turn, ModelTurn) and turn.stop != "interrupted" for turn in turns)
