"""`turnout batch`: as a process, with real sockets, killed in the middle, resumed, piped, on a terminal."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated
from tests.surfaces.program import Program

from turnout import UsageError
from turnout.simulate import Delay, HttpError, SimulatedRequest
from turnout.surfaces.cli.batch import read_prompts

MODELS = ("-m", "openai:gpt-5.2", "-m", "anthropic:claude-sonnet-5")


def echo(asked: SimulatedRequest) -> Any:
    return HttpError("invalid_request") if "bad" in asked.user else [f"{asked.user}!", Delay(0.05)]


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, echo) as user:
        yield user


def write_prompts(user: User, *prompts: Any) -> str:
    path = user.folder / "prompts.jsonl"
    path.write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    return str(path)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def asked_of(user: User) -> Counter[tuple[str, str]]:
    assert user.simulation is not None
    bodies = [
        (each.provider, json.loads(each.body)) for each in user.simulation.exchanges if each.status == 200
    ]
    return Counter((provider, str(body["messages"][-1]["content"])) for provider, body in bodies)


def test_every_answer_is_a_line(somebody: User) -> None:
    """A line for each prompt and model, with its id; a failure is a line too, and the exit code says so."""
    prompts = write_prompts(somebody, "one", {"prompt": "two", "id": "second", "meta": {"n": 2}}, "bad")
    out = somebody.folder / "out.jsonl"
    done = run(somebody, "batch", prompts, *MODELS, "-o", str(out))
    assert done.code == 1 and done.out == ""
    assert "4 answered, 2 failed, $" in done.err and "Run again to resume." in done.err
    lines = lines_of(out)
    assert {(line["target"], line["text"]) for line in lines if "error" not in line} == {
        (target, f"{word}!") for target in MODELS[1::2] for word in ("one", "two")
    }
    assert [line["meta"] for line in lines if line["id"] == "second"] == [{"n": 2}] * 2
    assert {line["error"]["kind"] for line in lines if "error" in line} == {"invalid_request"}
    done = run(somebody, "batch", write_prompts(somebody, "one"), *MODELS, "-o", str(out))
    assert done.code == 0 and done.err == "0 answered, 2 answered before, $0.0003.\n"


def test_a_killed_batch_is_resumed(somebody: User) -> None:
    """kill -9 twice in the middle, and half a line at the end: in the end each pair has one answer.

    No answer that was in the file is asked for again.
    """
    words = [f"p{n}" for n in range(40)]
    prompts, out = write_prompts(somebody, *words), somebody.folder / "out.jsonl"
    arguments = ("batch", prompts, *MODELS, "-o", str(out), "--concurrency", "4")
    for kept in (10, 30):
        process = subprocess.Popen(
            [sys.executable, "-m", "turnout", *arguments], env=somebody.environment, cwd=somebody.folder
        )
        ends = time.monotonic() + 60
        while (not out.exists() or out.read_bytes().count(b"\n") < kept) and time.monotonic() < ends:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    there = lines_of(out)
    assert 30 <= len(there) < 80  # it was killed in the middle
    with out.open("ab") as file:
        file.write(b'{"id": "half a li')
    before = asked_of(somebody)
    done = run(somebody, *arguments)
    assert done.code == 0, done.err
    assert f"{80 - len(there)} answered, {len(there)} answered before" in done.err
    assert len(lines_of(out)) == 80 and {line["text"] for line in lines_of(out)} == {
        f"{word}!" for word in words
    }
    asked = asked_of(somebody) - before
    answered = {(line["target"].partition(":")[0], line["prompt"]) for line in there}
    assert not answered & set(asked)
    assert sum(asked.values()) == 80 - len(there)


def test_answers_go_to_stdout_without_a_file(somebody: User) -> None:
    """For pipes: one line an answer as it comes, nothing else on stdout; prompts come from stdin."""
    command = [sys.executable, "-m", "turnout", "batch", "-", "-m", "openai:gpt-5.2"]
    done = subprocess.run(
        command,
        input='"one"\n\n"two"\n',
        env=somebody.environment,
        cwd=somebody.folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and sorted(json.loads(line)["text"] for line in done.stdout.splitlines()) == [
        "one!",
        "two!",
    ]
    assert done.stderr.startswith("2 answered") and "\x1b" not in done.stderr


def test_the_limit_on_cost_ends_with_4_and_more_money_goes_on(somebody: User) -> None:
    """The exit code and the message say that it was the limit; what is left is asked for later."""
    prompts, out = write_prompts(somebody, *(f"p{n}" for n in range(20))), somebody.folder / "out.jsonl"
    arguments = ("batch", prompts, "-m", "openai:gpt-5.2", "-o", str(out))
    done = run(somebody, *arguments, "--cost", "0.0005")
    assert done.code == 4 and "the shared limit of $0.0005 is used up" in done.err and "not asked" in done.err
    kept = len(lines_of(out))
    assert 0 < kept < 20
    done = run(somebody, *arguments, "--cost", "1", "--rate", "100000")
    assert done.code == 0 and f"{20 - kept} answered, {kept} answered before" in done.err


def test_an_interrupt_ends_with_130(somebody: User) -> None:
    """Ctrl-C keeps the answers so far, and says how to go on."""
    prompts, out = write_prompts(somebody, *(f"p{n}" for n in range(500))), somebody.folder / "out.jsonl"
    command = [sys.executable, "-m", "turnout", "batch", prompts, *MODELS, "-o", str(out)]
    with subprocess.Popen(
        command, env=somebody.environment, cwd=somebody.folder, stderr=subprocess.PIPE, text=True
    ) as process:
        ends = time.monotonic() + 60
        while (not out.exists() or not out.read_bytes()) and time.monotonic() < ends:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130 and "not asked" in told and "Run again to resume." in told
    assert "Traceback" not in told and lines_of(out)


def test_a_wrong_key_ends_with_3(somebody: User) -> None:
    """The one failure that all have in common is told by the exit code."""
    del somebody.environment["OPENAI_API_KEY"]
    done = run(somebody, "batch", write_prompts(somebody, "a", "b"), "-m", "openai:gpt-5.2")
    assert done.code == 3 and "OPENAI_API_KEY" in done.err


def test_a_terminal_has_a_bar(somebody: User) -> None:
    """On a terminal a bar counts up and is gone in the end; failures stay as lines."""
    prompts = write_prompts(somebody, "bad", *(f"p{n}" for n in range(30)))
    arguments = ["batch", prompts, "-m", "openai:gpt-5.2", "-o", "out.jsonl", "--concurrency", "2"]
    with Program(arguments, somebody.environment, somebody.folder) as program:
        program.wait(r"\d+/31")
        told = program.wait(r"30 answered, 1 failed")
        assert program.ended() == 1
        assert "invalid_request" in told and "/31" not in program.terminal.screen


WRONG = [
    ("{", "line 1 is not JSON"),
    ("7", "line 1 is not a prompt"),
    ('{"promt": "x"}', "line 1: .*did you mean prompt"),
    ('"a"\n{"prompt": "x", "id": 1}\n{"prompt": "y", "id": "1"}', "line 3: the id '1' is that of line 2"),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=str)
def test_a_mistake_in_a_line_is_found_before_anything_is_asked(tmp_path: Path, text: str, words: str) -> None:
    """The line is named."""
    path = tmp_path / "prompts.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        list(read_prompts(str(path)))
