"""Several gateways over one PostgreSQL: what one remembers another recalls, and each lives without it."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.store.servers import free_port
from tests.surfaces.gateway.sdk_talks import TALKS
from tests.surfaces.gateway.served import SEALING, TOKEN, UPSTREAMS, ask, environment_at, make_gateway
from tests.surfaces.gateway.test_sdks import TRACES, Model, one_round

from turnout.simulate import Simulation
from turnout.simulate.server import running_server
from turnout.store.postgres.gateway_state import PostgresGatewayState
from turnout.surfaces.gateway.memory import GatewayMemory
from turnout.surfaces.gateway.shared_state import PATIENCE, REST, GatewayState

CHAT = "/v1/chat/completions"
HELLO = [{"role": "user", "content": "hello"}]


@contextmanager
def gateway_process(folder: Path, upstream: str, database: str) -> Iterator[tuple[Any, str]]:
    """`turnout serve` with a home of its own: another host, but for the network."""
    folder.mkdir()
    settings = {
        "ANTHROPIC_BASE_URL": upstream,
        "TURNOUT_STORE": database,
        "TURNOUT_GATEWAY_TOKEN": TOKEN,
        "TURNOUT_GATEWAY_SEALING_KEY": SEALING.decode(),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "turnout", "serve", "--port", "0", "--quiet"],
        stdout=subprocess.PIPE,
        env=environment_at(folder, **settings),
        cwd=folder,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()[-1]
        finally:
            process.kill()


def test_a_gateway_is_killed_between_two_requests(database: str, tmp_path: Path) -> None:
    """The client's next request goes to the other gateway, which replays all of its reasoning.

    Chat has no field for it, and Gemini's clients send back the signature of the first call alone.
    """
    simulation, claude = Simulation(Model()), UPSTREAMS["anthropic"]
    seen = simulation.exchanges
    signed: dict[str, list[str]] = {}
    with ExitStack() as stack:
        upstream = stack.enter_context(running_server(simulation))
        (first, base), (_, spare) = (
            stack.enter_context(gateway_process(tmp_path / name, upstream, database)) for name in "ab"
        )
        talks: dict[str, Any] = {sdk: TALKS[sdk](base, TOKEN) for sdk in ("chat", "responses", "gemini")}
        for sdk, talk in talks.items():
            before = len(seen)
            one_round(talk, claude, True)
            talk.user("and now?")
            said = talk.ask(claude, True)
            talk.results({id: ("fine", False) for id, _ in said.calls})
            answers = [each.answered.decode() for each in list(seen)[before:]]
            signed[sdk] = [re.findall(TRACES["anthropic"], answer)[0] for answer in answers]
        first.send_signal(signal.SIGKILL)
        first.wait()
        for sdk, talk in talks.items():
            other: Any = TALKS[sdk](spare, TOKEN)
            name = next(name for name in ("messages", "items", "contents") if hasattr(talk, name))
            setattr(other, name, getattr(talk, name))
            assert other.ask(claude, True).text.startswith("answer")
            sent = seen[-1].body.decode()
            assert len(signed[sdk]) == 3 and all(each in sent for each in signed[sdk]), sdk
    assert not simulation.refusals


def test_a_response_is_continued_at_the_other_gateway(database: str, tmp_path: Path) -> None:
    """`previous_response_id` names a response that the first one gave."""

    async def talk() -> tuple[Any, Any]:
        gateways = [shared_gateway(tmp_path / name, database) for name in "ab"]
        body = {"model": UPSTREAMS["chat"], "input": "hello"}
        first = await ask(gateways[0], "POST", "/v1/responses", body)
        more = {**body, "input": "and?", "previous_response_id": first.json["id"]}
        second = await ask(gateways[1], "POST", "/v1/responses", more)
        unknown = await ask(gateways[1], "POST", "/v1/responses", {**more, "previous_response_id": "resp_x"})
        for each in gateways:
            await each.end()
        assert unknown.status == 400
        return second, gateways[1]

    second, _ = asyncio.run(talk())
    assert second.status == 200 and second.json["usage"]["input_tokens"] > 0


def shared_gateway(folder: Path, database: str, **options: Any) -> Any:
    folder.mkdir(exist_ok=True)
    return make_gateway(
        folder, lambda asked: "Hello.", shared=PostgresGatewayState(database, 10**6), **options
    )


def test_a_budget_is_for_all_gateways(database: str, tmp_path: Path) -> None:
    """What a key has used at one counts at the other, which refuses it then; `/usage` says the same."""
    settings = '[gateway.keys.ci]\ntoken_variable = "CI_TOKEN"\nmax_tokens = 150\n'

    async def talk() -> tuple[list[int], list[Any]]:
        gateways = []
        for name in "ab":
            environment = environment_at(tmp_path / name, CI_TOKEN="token-of-the-ci-key")
            gateways.append(
                shared_gateway(tmp_path / name, database, settings=settings, environment=environment)
            )
        own = {"authorization": "Bearer token-of-the-ci-key"}
        body = {"model": UPSTREAMS["chat"], "messages": HELLO}
        statuses = []
        for number in range(8):
            for each in gateways:  # what a running gateway does every second
                await each.share_usage()
            statuses.append((await ask(gateways[number % 2], "POST", CHAT, body, **own)).status)
        used = [(await ask(each, "GET", "/usage", **own)).json for each in gateways]
        for each in gateways:
            await each.end()
        return statuses, used

    statuses, used = asyncio.run(talk())
    allowed = statuses.count(200)
    assert statuses == [200] * allowed + [429] * (8 - allowed) and 1 < allowed < 8
    assert used[0]["tokens"] == used[1]["tokens"] >= 150


def test_a_gateway_lives_without_the_database(tmp_path: Path) -> None:
    """What it remembers itself is there; the database is asked again after a rest, and named in the log."""
    now, told = [0.0], []
    away = PostgresGatewayState(f"postgresql://turnout@127.0.0.1:{free_port()}/none", 10**6)
    memory = GatewayMemory(tmp_path / "g.db")
    state = GatewayState(memory, away, report=told.append, clock=lambda: now[0])

    async def talk() -> None:
        await state.remember("a", "x", b"mine")
        began = time.monotonic()
        for _ in range(20):
            assert await state.recall("a") == {"x": b"mine"}
        assert len(told) == 1 and time.monotonic() - began < PATIENCE
        now[0] = REST + 1
        assert await state.recall("a") == {"x": b"mine"}

    asyncio.run(talk())
    assert len(told) == 2 and "127.0.0.1" in told[0]


def test_other_streams_flow_while_the_database_takes_its_time(database: str, tmp_path: Path) -> None:
    """The loop turns while a state is recalled and remembered: it is never held for as long as that takes."""

    class Slow(PostgresGatewayState):
        def recall(self, conversation: str) -> dict[str, bytes]:
            time.sleep(0.2)
            return super().recall(conversation)

        def remember(self, conversation: str, name: str, state: bytes) -> None:
            time.sleep(0.2)
            super().remember(conversation, name, state)

    async def talk() -> int:
        state, turns = GatewayState(GatewayMemory(tmp_path / "g.db"), Slow(database, 10**6)), 0

        async def count_turns() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        counting = asyncio.create_task(count_turns())
        await state.remember("a", "x", b"1")
        await state.recall("a")
        counting.cancel()
        return turns

    assert asyncio.run(talk()) > 20
