"""What real clients send, and hostile histories, in each protocol to each upstream: nobody refuses."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from bench.hostile import Hostile, histories
from tests.corpus import ROOT, ROTATION
from tests.surfaces.gateway.bodies import PATHS, body_of, path_of
from tests.surfaces.gateway.served import UPSTREAMS, ask, make_gateway

from turnout.simulate import ScriptedTransport
from turnout.simulate.model import demo

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
RECORDED = sorted((ROOT.parent / "gateway" / "clients").glob("*/*-request.json"))
LEFT_OUT = ("authorization", "x-api-key", "x-goog-api-key", "content-length", "host")
ALL = list(histories())
SHARE = 1 if SOAK else 9
"""Of all pairs of a history and an upstream, each protocol tries one in so many; they rotate."""


@pytest.mark.skipif(not RECORDED, reason="no recorded requests of clients beside this repository")
@pytest.mark.parametrize("client", sorted({path.parent.name for path in RECORDED}))
def test_recorded_requests_go_to_every_provider(client: str, tmp_path: Path) -> None:
    """No provider refuses one, and what was dropped is named in the report."""
    transport = ScriptedTransport(demo)
    gateway = make_gateway(tmp_path, transport=transport)

    async def send_all() -> None:
        for path in (each for each in RECORDED if each.parent.name == client):
            recorded = json.loads(path.read_text())
            headers = {name.replace("-", "_"): text for name, text in recorded["headers"].items()}
            for name in LEFT_OUT:
                headers.pop(name.replace("-", "_"), None)
            for target in UPSTREAMS.values():
                answer = await ask(
                    gateway, "POST", recorded["path"], recorded["body"], x_turnout_target=target, **headers
                )
                assert answer.status == 200, (path.name, target, answer.body[:500])
                assert not transport.refusals, (path.name, target, transport.refusals[-1].problems)
                _check_report(gateway.memory.request(answer.headers["x-turnout-request"]), recorded["body"])

    asyncio.run(send_all())


def _check_report(found: Any, body: dict[str, Any]) -> None:
    """Tools of one provider that did not go along are named."""
    record, _ = found
    hosted = [tool for tool in body.get("tools") or () if tool.get("type", "").startswith("web_search")]
    if hosted and not record["target"].startswith("openai-responses"):
        told = json.dumps([record["dropped"], record["repaired"]])
        assert "web_search" in told or "search" in told


@pytest.mark.parametrize("protocol", PATHS)
def test_hostile_histories_go_to_every_upstream(protocol: str, tmp_path: Path) -> None:
    """Nobody refuses, and nothing that was said or found is lost."""
    transport = ScriptedTransport(demo)
    gateway = make_gateway(tmp_path, transport=transport)
    turn = list(PATHS).index(protocol)

    async def send_all() -> None:
        for number, history in enumerate(ALL):
            for place, target in enumerate(UPSTREAMS.values()):
                if (number + place + turn + ROTATION) % SHARE == 0:
                    await _send(history, target, streams=bool(number % 2))

    async def _send(history: Hostile, target: str, streams: bool) -> None:
        body = body_of(protocol, target, history.messages, history.tools, streams)
        answer = await ask(gateway, "POST", path_of(protocol, target, streams), body)
        about = (history.conversation, history.damage, target)
        assert answer.status == 200, (about, answer.body[:500])
        assert not transport.refusals, (about, transport.refusals[-1].problems)
        sent = transport.exchanges[-1].body.decode()
        assert not [text for text in history.texts if json.dumps(text)[1:-1] not in sent], about

    asyncio.run(send_all())
