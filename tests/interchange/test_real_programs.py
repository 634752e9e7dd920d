"""Sessions that the real programs of npm wrote, damaged, rescued, and resumed by these programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.npm_programs import npm_program, search_path
from tests.surfaces.gateway.test_real_clients import CLIENTS, PROMPT, model

from turnout.interchange.rescue import rescue_cases
from turnout.simulate import Simulation
from turnout.simulate.server import running_server

pytestmark = pytest.mark.soak
RESULTS = ("tool_result", "function_call_output", "toolResult")
RESUMED = {
    "claude-code": lambda id, path: ["-p", "--resume", id, "go on", "--allowedTools", "Bash"],
    "codex": lambda id, path: [
        *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        *("resume", id, "go on"),
    ],
    "pi": lambda id, path: ["-p", "--offline", "--session", str(path), "go on"],
}
"""How each program resumes a session and says something."""
FIRST = {
    **{name: words for name, (_, words) in CLIENTS.items()},
    "codex": ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
}


class Machine:
    """A home folder, a project, and simulated providers."""

    def __init__(self, place: Path, upstream: str) -> None:
        self.home, self.folder = place / "home", place / "project"
        self.home.mkdir()
        self.folder.mkdir()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("CLAUDE")},
            "HOME": str(self.home),
            "PATH": search_path(),
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": f"{upstream}/v1",
            "IS_SANDBOX": "1",
        }

    def turnout(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "turnout", *words]
        return subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=180
        )

    def launch(self, client: str, *words: str) -> subprocess.CompletedProcess[str]:
        return self.turnout("launch", "--port", "1", "-m", "openai:gpt-4.1", client, "--", *words)


@pytest.mark.parametrize("client", RESUMED)
def test_a_repaired_file_is_resumed_by_its_own_program(client: str, tmp_path: Path) -> None:
    """Its result is deleted as a crash would; the repaired file says all else, and nobody refuses."""
    npm_program(CLIENTS[client][0])
    simulation = Simulation(model)
    with running_server(simulation) as upstream:
        machine = Machine(tmp_path, upstream)
        machine.launch(client, *FIRST[client])
        (case,) = rescue_cases(machine.folder, machine.environment)
        lines = case.found.path.read_text().splitlines()
        kept = [line for line in lines if not any(word in line for word in RESULTS)]
        assert len(kept) < len(lines)
        case.found.path.write_text("\n".join(kept) + "\n")
        listed = json.loads(machine.turnout("rescue", "--json").stdout)
        written = machine.turnout("rescue", "1", "--write")
        path = Path(written.stdout.strip())
        id = written.stderr.split()[-1]
        before = len(simulation.exchanges)
        resumed = machine.launch(client, *RESUMED[client](id, path))
    assert listed[0]["stuck"], listed
    assert path.is_file() and path != case.found.path, written.stderr
    assert "forty-two" in resumed.stdout, (resumed.stdout[-2000:], resumed.stderr[-2000:])
    asked = simulation.exchanges[before].body.decode()
    assert PROMPT.split("`")[0] in asked and "go on" in asked
    assert not simulation.refusals
