"""The web application of the guide, as a process: users, limits, a browser that leaves, a restart."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn

from turnout.simulate import Call, Say, SimulatedRequest, Simulation, Stall
from turnout.simulate import server as simulator

ROOT = Path(__file__).parent.parent.parent
ADA, BOB = {"authorization": "Bearer secret-1"}, {"authorization": "Bearer secret-2"}
LONG = 120.0
"""Seconds that a stalled reply takes. No test waits for them: what ends earlier was cancelled."""


class Upstream:
    """The provider on loopback; `open` counts requests that it is still answering."""

    def __init__(self, listening: socket.socket) -> None:
        self.address = simulator.address(listening)
        self.simulation = Simulation(self.answer_prompt)
        self.stalls = True
        self.open = 0
        self._inner = simulator.app(self.simulation)

    def answer_prompt(self, asked: SimulatedRequest) -> Any:
        """A stalled reply, a call of the tool, or an echo, as the user's words say."""
        if "stall" in asked.user and self.stalls:
            return [Say("One moment."), Stall(LONG, after=2)]
        if "hours" in asked.user and not asked.results:
            return [Call("opening_hours", {"day": "Sunday"})]
        return f"{asked.results[-1][2].text if asked.results else 'Hm'}."

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.open += 1
        try:
            await self._inner(scope, receive, send)
        finally:
            self.open -= 1


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    listening = simulator.open_socket()
    made = Upstream(listening)
    config = uvicorn.Config(made, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield made
    running.should_exit = True
    thread.join(10)
    listening.close()


@contextmanager
def running_app(upstream: Upstream, folder: Path, **settings: str) -> Iterator[tuple[httpx2.Client, Any]]:
    """The example in a process of its own, and a client of it."""
    listening = simulator.open_socket()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "OPENAI_API_KEY": "sk-of-nobody",
        "APP_BASE_URL": f"{upstream.address}/v1",
        "APP_USERS": "ada=secret-1,bob=secret-2",
        "APP_STORE": str(folder / "app.db"),
        **settings,
    }
    program = [sys.executable, "-m", "uvicorn", "examples.web_app:app", "--fd", str(listening.fileno())]
    process = subprocess.Popen(
        [*program, "--log-level", "warning", "--timeout-graceful-shutdown", "1"],
        env=environment, pass_fds=[listening.fileno()], cwd=folder,
    )  # fmt: skip
    try:
        with httpx2.Client(base_url=simulator.address(listening), timeout=60) as client:
            assert client.get("/").status_code == 200  # waits until it listens
            yield client, process
    finally:
        process.kill()
        process.wait(10)
        listening.close()


def say(
    client: httpx2.Client, words: str, user: dict[str, str] = ADA, chat: str = "main", key: str = ""
) -> Any:
    """The events of one prompt."""
    body = {"text": words, "key": key or words}
    answer = client.post(f"/chats/{chat}", json=body, headers=user)
    assert answer.status_code == 200, answer.text
    return [json.loads(line[len("data: ") :]) for line in answer.text.split("\n\n") if line]


def wait_until(is_true: Callable[[], bool]) -> None:
    """Look again and again, far less long than a stalled reply takes."""
    until = time.monotonic() + LONG / 4
    while not is_true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


@contextmanager
def stalled_prompt(client: httpx2.Client, upstream: Upstream, key: str, **options: Any) -> Iterator[Any]:
    """A prompt whose answer has begun and does not come to its end; gives the lines that would follow."""
    options = {"headers": ADA, "url": "/chats/main", **options}
    with client.stream("POST", json={"text": f"please stall {key}", "key": key}, **options) as answer:
        lines = answer.iter_lines()
        assert json.loads(next(lines)[len("data: ") :]) == {"type": "text", "text": "One moment."}
        assert upstream.open
        yield lines


def test_two_users_talk_and_see_their_own_only(upstream: Upstream, tmp_path: Path) -> None:
    """Events come as they happen, tools run, and a conversation belongs to its user."""
    with running_app(upstream, tmp_path) as (client, _):
        events = say(client, "Your hours on Sunday?")
        assert events[0]["type"] == "tool" and "closed" in events[-1]["text"]
        assert say(client, "Hello.", BOB)[-1]["text"] == "Hm."
        turns = client.get("/chats/main", headers=ADA).json()["turns"]
        assert [turn["by"] for turn in turns] == ["user", "model"] and "hours" in turns[0]["text"]
        assert "Hello." in client.get("/chats/main", headers=BOB).text
        assert client.get("/chats/main").status_code == 401
        assert client.get("/chats/ada.main", headers=BOB).status_code == 400
        assert not upstream.simulation.refusals


def test_a_browser_that_leaves_ends_the_request_to_the_provider(upstream: Upstream, tmp_path: Path) -> None:
    """Long before the reply would have ended, though no event came that could not be delivered."""
    with running_app(upstream, tmp_path, APP_RUNS="1") as (client, _):
        with stalled_prompt(client, upstream, "p1"):
            pass
        wait_until(lambda: not upstream.open)
        again = {"json": {"text": "Hello again.", "key": "p2"}, "headers": ADA}
        wait_until(lambda: client.post("/chats/main", **again).status_code == 200)  # so is the user's place


def test_limits_of_a_user_are_told_clearly_and_do_not_touch_others(
    upstream: Upstream, tmp_path: Path
) -> None:
    """So many answers at once, and so much money in all; the other user goes on."""
    with running_app(upstream, tmp_path, APP_RUNS="1", APP_BUDGET="0.000001") as (client, _):
        with stalled_prompt(client, upstream, "p1"):
            full = client.post("/chats/other", json={"text": "Hi", "key": "k"}, headers=ADA)
            assert full.status_code == 429 and "wait for one" in full.json()["error"]
            assert say(client, "Hello.", BOB)[-1]["type"] == "done"
        spent = client.post("/chats/main", json={"text": "More.", "key": "k"}, headers=BOB)
        assert spent.status_code == 402 and "is used up" in spent.json()["error"]
        bad = client.post("/chats/main", json={"text": "no key"}, headers=ADA)
        assert bad.status_code == 400 and "key" in bad.json()["error"]


def test_two_prompts_at_once_in_one_conversation_are_refused(upstream: Upstream, tmp_path: Path) -> None:
    """The second is told who has the conversation; nothing is mixed."""
    with running_app(upstream, tmp_path) as (client, _), stalled_prompt(client, upstream, "p1"):
        busy = client.post("/chats/main", json={"text": "Hi", "key": "k"}, headers=ADA)
        assert busy.status_code == 409 and busy.json()["error"]


def test_after_a_restart_the_same_prompt_goes_on(upstream: Upstream, tmp_path: Path) -> None:
    """The server dies in the middle of an answer. What was said is there, and is not said twice."""
    with running_app(upstream, tmp_path) as (client, process):
        say(client, "Remember the blue one.")
        with stalled_prompt(client, upstream, "p1") as lines, pytest.raises(httpx2.HTTPError):
            process.kill()
            list(lines)
    upstream.stalls = False
    with running_app(upstream, tmp_path) as (client, _):
        assert say(client, "please stall p1", key="p1")[-1]["type"] == "done"
        turns = client.get("/chats/main", headers=ADA).json()["turns"]
        said = [turn["text"] for turn in turns if turn["by"] == "user"]
        assert said == ["Remember the blue one.", "please stall p1"]
