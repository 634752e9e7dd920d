"""The first minute: without a key, with a wrong one, with a local server, without a network."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.interchange.agent_homes import furnish_home
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated, user
from tests.surfaces.program import Program

from turnout.surfaces.shared.first_guide import guide_choices, guide_lines
from turnout.world.local_servers import LocalServer, local_servers

NOBODY = "http://127.0.0.1:9"
SILENT = {f"{name}_BASE_URL": f"{NOBODY}/v1" for name in ("OLLAMA", "LMSTUDIO", "VLLM", "LLAMACPP")}


@contextmanager
def model_list(body: object) -> Iterator[str]:
    """A server that answers every GET with this body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[User]:
    """A user without a key, whose providers are simulated, and without local servers."""
    with simulated(tmp_path, lambda asked: f"{asked.provider} says hello") as known:
        keyless = {n: v for n, v in known.environment.items() if not n.endswith("_API_KEY")}
        yield User(known.home, known.folder, {**keyless, **SILENT}, known.simulation)


def test_local_servers_are_found_with_their_models() -> None:
    """Ollama lists tags, the others models; what answers something else is not a server of models."""
    with (
        model_list({"models": [{"name": "qwen3:8b"}]}) as ollama,
        model_list({"data": [{"id": "m"}]}) as vllm,
    ):
        places = {
            **SILENT,
            "OLLAMA_BASE_URL": ollama,
            "VLLM_BASE_URL": f"{vllm}/v1",
            "LMSTUDIO_BASE_URL": ollama,
        }
        found = asyncio.run(local_servers(places))
    assert found == [LocalServer("ollama", ollama, ("qwen3:8b",)), LocalServer("vllm", f"{vllm}/v1", ("m",))]


def test_the_guide_names_what_was_looked_at() -> None:
    """Variables, servers and addresses; local models come first, since they need nothing."""
    servers = [LocalServer("ollama", "http://x", ("a", "b"))]
    text = "\n".join(guide_lines(servers, SILENT))
    assert "ANTHROPIC_API_KEY" in text and "OPENAI_API_KEY" in text
    assert "ollama runs at http://x with 2 models" in text and "vllm (127.0.0.1:9" in text
    kinds = [choice.kind for choice in guide_choices(servers, 2)]
    assert kinds == ["model", "model", "login", "rescue", "demo"]


@pytest.mark.parametrize("columns", [40, 120])
def test_no_key_sign_in_and_a_first_answer(newcomer: User, columns: int) -> None:
    """A wrong answer and a wrong key are said; with the right one the chat begins, and the key stays."""
    with Program((), newcomer.environment, newcomer.folder, columns=columns) as program:
        program.wait(r"No model is set up.*Choose 1-2")
        program.say("7")
        program.wait(r"not in the list")
        program.say("1")
        program.wait(r"Provider \(")
        program.say("anthropic")
        program.wait(r"not shown")
        program.say("sk-ant-0123456789abcdef")
        program.wait(r"^❯ ?$")
        program.say("hi")
        program.settled("anthropic says hello")
        program.say("/exit")
        program.ended()
        assert "sk-ant-0123" not in program.terminal.text
    assert run(newcomer, "-p", "hi").out == "anthropic says hello\n"


def test_a_session_of_another_agent_goes_on(newcomer: User) -> None:
    """The guide offers it, stores it, and asks who answers."""
    furnish_home(newcomer.home, newcomer.folder)
    with Program((), newcomer.environment, newcomer.folder) as program:
        program.wait(r"2  resume the last of 6 sessions of another agent")
        program.say("2")
        program.wait(r"Who answers\?")
        program.say("1")
        program.wait(r"Provider \(")
        program.say("openai")
        program.wait(r"not shown")
        program.say("sk-0123456789abcdef")
        program.wait(r"^❯ ?$")
        program.say("go on")
        program.settled("openai says hello")
    assert 400 not in newcomer.statuses


def test_failures_name_provider_variable_address_and_next_step(tmp_path: Path) -> None:
    """No key, a refused connection, an unknown provider: nothing speaks of the library's parameters."""
    somebody = user(tmp_path, OPENAI_API_KEY="sk-wrong", OPENAI_BASE_URL=f"{NOBODY}/v1", **SILENT)
    refused = run(somebody, "-p", "hi", "-m", "gpt-4o", "--no-store").err
    assert "openai was asked at http://127.0.0.1:9/v1 (from OPENAI_BASE_URL)" in refused
    missing = run(somebody, "-p", "hi", "-m", "claude-sonnet-5", "--no-store").err
    assert "ANTHROPIC_API_KEY" in missing and "turnout login anthropic" in missing
    nobody = User(somebody.home, somebody.folder, {"HOME": str(somebody.home), "PATH": "/usr/bin", **SILENT})
    nothing = run(nobody, "-p", "hi")
    assert nothing.code == 3 and "turnout login" in nothing.err
    for shown in (refused, missing, nothing.err):
        assert "api_key=" not in shown and "base_url=" not in shown


def test_login_inside_a_conversation_hides_the_key(newcomer: User) -> None:
    """The key is neither on the screen nor in the history of prompts; the provider answers next."""
    with Program(("-m", "ollama:x"), newcomer.environment, newcomer.folder) as program:
        program.wait(r"^❯ ?$")
        program.say("/login mistral")
        program.wait(r"API key of mistral", scrolled=False)
        program.say("mistralkey0123456789")
        program.wait(r"answers\s+from\s+now on")
        program.say("hi")
        program.settled("mistral says hello")
        assert "mistralkey" not in program.terminal.text
        assert b"mistralkey" not in bytes(program.finish_arguments)
