"""`turnout simulate`: it says where it listens, plays, tells each verdict, and ends when told."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from turnout.simulate.script import read_script
from turnout.simulate.server import open_socket
from turnout.surfaces.cli import main


@contextmanager
def simulating(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, running; gives the process and the address that it prints."""
    command = [sys.executable, "-m", "turnout", "simulate", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            yield process, found[0]
        finally:
            process.send_signal(signal.SIGINT)


def chat(url: str, *messages: Any, **headers: str) -> Any:
    body = json.dumps({"model": "gpt-4o", "messages": messages}).encode()
    request = urllib.request.Request(f"{url}/v1/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())["choices"][0]["message"]["content"]


HELLO = {"role": "user", "content": "hello"}


def test_it_plays_a_script_and_tells_its_verdicts(tmp_path: Path) -> None:
    """One request is answered, one is refused by its broken rule, and Ctrl+C ends it in peace."""
    script = tmp_path / "script.json"
    script.write_text('["Good day."]')

    with simulating("--script", str(script), "--key", "right") as (process, url):
        assert chat(url, HELLO, authorization="Bearer right") == "Good day."
        try:
            chat(url, {"role": "tool", "tool_call_id": "x", "content": ""}, authorization="Bearer right")
        except urllib.error.HTTPError as error:
            assert error.code == 400
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None and process.stderr is not None
        said, wrong = process.stdout.read(), process.stderr.read()  # communicate would lose what is buffered
        process.wait(timeout=60)

    assert "MISTRAL_BASE_URL=http://" in said
    assert "200  openai  gpt-4o" in said
    assert "400  openai  gpt-4o  refused: OAC-02" in said
    assert wrong == ""
    assert process.returncode == 0


def test_the_script_in_the_guide_can_be_played() -> None:
    """The example of the documentation is valid."""
    guide = (Path(__file__).parents[2] / "docs/guide/scripting.md").read_text()
    (script,) = re.findall(r"^```json\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)

    steps = read_script(script)
    assert [type(step).__name__ for step in steps] == ["Reply", "HttpError", "Reply", "Reply"]


def test_without_a_script_the_demo_model_answers() -> None:
    """It says what it is."""
    with simulating() as (_, url):
        assert "I am a model made of rules" in chat(url, HELLO, authorization="Bearer any")


def test_a_script_that_makes_no_sense_is_refused_at_the_start(tmp_path: Path) -> None:
    """So is a port that is taken."""
    script = tmp_path / "script.json"
    script.write_text('[{"type": "sing"}]')
    refused = CliRunner().invoke(main, ["simulate", "--port", "0", "--script", str(script)])
    assert refused.exit_code == 2 and "is not a part of a script" in refused.output

    with open_socket() as taken:
        port = str(taken.getsockname()[1])
        refused = CliRunner().invoke(main, ["simulate", "--port", port])
    assert refused.exit_code == 1 and "cannot listen" in refused.output
