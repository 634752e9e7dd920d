"""Programs of npm behind the gateway, as they are installed: they ask, run a call, and show the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.npm_programs import npm_program, search_path

from turnout.simulate import Call, Simulation
from turnout.simulate.request import SimulatedRequest
from turnout.simulate.script import Part
from turnout.simulate.server import running_server
from turnout.surfaces.gateway.clients import client_setup
from turnout.wire.shared.reply import Say

pytestmark = pytest.mark.soak
PROMPT = "Run the command `echo 42` and say what it printed."
CLIENTS = {
    "claude-code": ("claude", ["-p", PROMPT, "--allowedTools", "Bash"]),
    "codex": (
        "codex",
        ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
    ),
    "gemini-cli": ("gemini", ["-p", PROMPT, "--yolo"]),
    "opencode": ("opencode", ["run", PROMPT]),
    "pi": ("pi", ["-p", PROMPT, "--offline"]),
    "qwen-code": ("qwen", ["-p", PROMPT, "--yolo"]),
}
SHELLS = ("Bash", "bash", "shell", "exec_command", "run_shell_command", "local_shell")


def model(asked: SimulatedRequest) -> list[Part]:
    """Calls the shell of the client, then says that it is done."""
    if asked.results:
        return [Say("It printed forty-two.")]
    shell = next((tool.name for tool in asked.history.tools if tool.name in SHELLS), "")
    if not shell:
        return [Say("It printed forty-two.")]
    command = "cmd" if shell == "exec_command" else "command"
    return [Call(shell, {command: "echo 42", "description": "Print 42"})]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_of_npm_talks_through_the_gateway(client: str, tmp_path: Path) -> None:
    """`turnout launch` starts it; nobody refuses a request, and the answer is shown."""
    program, words = CLIENTS[client]
    npm_program(program)
    if client == "gemini-cli":
        (tmp_path / ".gemini").mkdir()
        (tmp_path / ".gemini" / "settings.json").write_text(client_setup(client, "", "").content)
    simulation = Simulation(model)
    with running_server(simulation) as upstream:
        env = {
            **os.environ,
            "HOME": str(tmp_path),
            "PATH": search_path(),
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": f"{upstream}/v1",
            "IS_SANDBOX": "1",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        launch = [
            sys.executable,
            "-m",
            "turnout",
            "launch",
            "--port",
            "1",
            "-m",
            "openai:gpt-4.1",
            client,
            "--",
        ]
        done = subprocess.run(
            [*launch, *words], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=180
        )
    assert "forty-two" in done.stdout, (done.stdout[-2000:], done.stderr[-2000:])
    assert not simulation.refusals
