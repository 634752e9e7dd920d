"""`turnout serve` as a process: its first line, its signals, and a real client behind it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from turnout.simulate import Call, Say, Simulation, Stall
from turnout.simulate.model import demo
from turnout.simulate.server import running_server

TOKEN = "a token for the tests"


def environment(folder: Path, upstream: str) -> dict[str, str]:
    names = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{upstream}/v1"}
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
    return {
        **kept,
        **names,
        "HOME": str(folder),
        "TURNOUT_GATEWAY_TOKEN": TOKEN,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@contextmanager
def gateway_process(folder: Path, upstream: str, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A gateway of its own process; gives it and its address."""
    command = [sys.executable, "-m", "turnout", "serve", "--port", "0", *words]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder, upstream),
        cwd=folder,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("turnout: serving at http://127.0.0.1:"), first
            yield process, first.split()[-1]
        finally:
            process.kill()


def post(base: str, path: str, body: Any, **headers: str) -> Any:
    named = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", **headers}
    request = urllib.request.Request(f"{base}{path}", json.dumps(body).encode(), named)
    return urllib.request.urlopen(request, timeout=20)


def question(stream: bool = False) -> dict[str, Any]:
    return {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hello"}], "stream": stream}


def test_a_gateway_answers_and_ends_with_success(tmp_path: Path) -> None:
    """The first line names the address; SIGTERM ends it; one line a request is on stderr."""
    with running_server(Simulation(demo)) as upstream, gateway_process(tmp_path, upstream) as (process, base):
        with post(base, "/v1/chat/completions", question()) as answer:
            assert "You said: hello" in json.load(answer)["choices"][0]["message"]["content"]
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(base, "/v1/chat/completions", question(), authorization="Bearer wrong")
        assert refused.value.code == 401
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=20)
    assert process.returncode == 0
    assert told.count("answered=openai:gpt-4.1") == 1 and TOKEN not in told


def test_a_signal_lets_an_open_stream_finish(tmp_path: Path) -> None:
    """SIGINT while a reply streams: its end still comes, then the process ends."""
    slow = [[Say("one two three"), Stall(0.8), Say(" four")]]
    with running_server(Simulation(slow)) as upstream, gateway_process(tmp_path, upstream) as (process, base):
        with post(base, "/v1/chat/completions", question(stream=True)) as answer:
            first = answer.readline()
            process.send_signal(signal.SIGINT)
            text = (first + answer.read()).decode()
        assert process.wait(timeout=20) == 0
    assert "four" in text and "[DONE]" in text


def test_the_llm_program_talks_and_uses_tools_through_the_gateway(tmp_path: Path) -> None:
    """A real client, as it is installed: it asks, runs the call that comes back, and shows the answer."""
    pytest.importorskip("llm")
    script = [[Call("llm_version", {})], "The version was told."]
    home = tmp_path / "llm"
    home.mkdir()
    simulation = Simulation(script)
    with running_server(simulation) as upstream, gateway_process(tmp_path, upstream) as (_, base):
        (home / "extra-openai-models.yaml").write_text(
            f"- model_id: turnout\n  model_name: gpt-4.1\n  api_base: {base}/v1\n"
            "  api_key_name: turnout\n  supports_tools: true\n"
        )
        (home / "keys.json").write_text(json.dumps({"turnout": TOKEN}))
        words = [sys.executable, "-m", "llm", "-m", "turnout", "-T", "llm_version", "which version?"]
        env = {**environment(tmp_path, upstream), "LLM_USER_PATH": str(home)}
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, cwd=tmp_path)
    assert "The version was told." in done.stdout, done.stderr
    assert len(simulation.exchanges) == 2 and not simulation.refusals


def test_for_prints_what_a_client_needs_and_ends(tmp_path: Path) -> None:
    """Lines for a shell, without the token itself."""
    words = [sys.executable, "-m", "turnout", "serve", "--for", "claude-code"]
    env = environment(tmp_path, "http://127.0.0.1:1")
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, env=env, cwd=tmp_path)
    assert "export ANTHROPIC_BASE_URL='http://127.0.0.1:8484'" in done.stdout and TOKEN not in done.stdout
