"""Conversations that come through the gateway as sessions of the store."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from tests.surfaces.gateway.bodies import PATHS, body_of
from tests.surfaces.gateway.served import ask_once, environment_at, make_gateway

from turnout.history.log import History
from turnout.model import ModelTurn, Origin, Text
from turnout.simulate import Call, Say
from turnout.store import Store, open_store
from turnout.store.pruning import client_of
from turnout.surfaces.gateway.keeping import ConversationKeeper

KIMI = "kimi:kimi-k2.5"


def test_conversations_are_sessions_only_where_the_user_says_so(tmp_path: Path) -> None:
    """With `keep = true` each is one session that grows; one that the client edits is another."""
    environment = environment_at(tmp_path)
    tools = [{"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}]
    for keeps in (False, True):

        def model(asked: Any) -> list[Any]:
            return [Say("done")] if asked.results else [Call("look", {})]

        gateway = make_gateway(
            tmp_path, model, settings=f"[gateway]\nkeep = {str(keeps).lower()}\n", environment=environment
        )
        messages: list[Any] = []
        for turn in range(2):
            messages.append({"role": "user", "content": f"question {turn}"})
            for _ in range(2):
                body = body_of("chat", KIMI, messages, tools)
                message = ask_once(gateway, "POST", PATHS["chat"], body).json["choices"][0]["message"]
                messages.append({name: value for name, value in message.items() if value})
                for call in message.get("tool_calls") or ():
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": "seen"})
        gateway.close()
        with open_store(environment) as store:
            stored = [store.read(line.id) for line in store.list()]
        assert len(stored) == keeps
        assert all(client_of(each.key) == "owner" for each in stored)  # what `prune --keep` counts by
    (history,) = stored
    assert [type(turn).__name__ for turn in history.turns] == ["UserTurn", "ModelTurn", "ModelTurn"] * 2
    assert {item.status for item in history.ledger} == {"complete"}


def test_a_slow_store_does_not_stop_the_loop(tmp_path: Path) -> None:
    """The gateway serves others while a conversation is written."""

    def open_slowly() -> Store:
        time.sleep(0.2)
        return Store(tmp_path / "s.db", heartbeat=False)

    async def talk() -> int:
        keeper, turns = ConversationKeeper(open_slowly), 0
        history = History("g1")
        history.user("hello")
        keeping = asyncio.create_task(
            keeper.keep(history, ModelTurn("g1.2", Origin("openai"), (Text("hi"),)), "ci")
        )
        while not keeping.done():
            await asyncio.sleep(0.001)
            turns += 1
        keeper.close()
        return turns

    assert asyncio.run(talk()) > 10
    with Store(tmp_path / "s.db") as store:
        assert [(line.id, line.turns) for line in store.list()] == [("ci/g1", 2)]
