"""`turnout launch`: a client behind the gateway, in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.surfaces.cli.test_serve import TOKEN, environment


def test_launch_starts_a_client_behind_a_gateway_of_its_own(tmp_path: Path) -> None:
    """The client finds the address and the token in its environment; its exit code is ours."""
    programs = tmp_path / "bin"
    programs.mkdir()
    client = programs / "claude"
    client.write_text(
        "#!/bin/sh\n"
        f'exec "{sys.executable}" -c "import os, urllib.request as u; '
        "print(u.urlopen(os.environ['ANTHROPIC_BASE_URL'] + '/health').read());"
        "print(os.environ['ANTHROPIC_AUTH_TOKEN']);"
        ' raise SystemExit(7)" "$@"\n'
    )
    client.chmod(0o755)
    env = environment(tmp_path, "http://127.0.0.1:1")
    env["PATH"] = f"{programs}:{env['PATH']}"
    words = [sys.executable, "-m", "turnout", "launch", "--port", "1", "claude-code", "--", "-p", "hi"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, cwd=tmp_path)
    assert done.returncode == 7 and "ok" in done.stdout and TOKEN in done.stdout, done.stderr


def test_launch_names_a_client_that_is_not_installed(tmp_path: Path) -> None:
    """And a client that is not known."""
    env = {**environment(tmp_path, "http://127.0.0.1:1"), "PATH": "/nowhere"}
    for client, told in (("codex", "not on the PATH"), ("emacs", "known are")):
        words = [sys.executable, "-m", "turnout", "launch", client]
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, env=env, cwd=tmp_path)
        assert done.returncode and told in done.stderr


def test_launch_gives_pi_the_address_in_an_extension(tmp_path: Path) -> None:
    """pi reads no address from a variable; the file is gone afterwards."""
    programs = tmp_path / "bin"
    programs.mkdir()
    client = programs / "pi"
    client.write_text('#!/bin/sh\necho "$@"\ncat "$2"\n')
    client.chmod(0o755)
    env = environment(tmp_path, "http://127.0.0.1:1")
    env["PATH"] = f"{programs}:{env['PATH']}"
    words = [sys.executable, "-m", "turnout", "launch", "--port", "1", "-m", "openai:gpt-4.1", "pi"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, cwd=tmp_path)
    said, code = done.stdout.splitlines()
    assert said.startswith("-e ") and said.endswith("--provider turnout --model openai:gpt-4.1")
    assert 'registerProvider("turnout"' in code and '"baseUrl": "http://127.0.0.1:' in code
    assert not Path(said.split()[1]).exists()
