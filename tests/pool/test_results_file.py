"""The results file: whatever a killed process left, what has an answer is read, and nothing of it is lost."""

from __future__ import annotations

import asyncio
import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout import StoreError, UsageError
from turnout.errors import ProviderError
from turnout.pool.result import PoolResult, result_line
from turnout.pool.results_file import ResultsFile


def line(id: str, **more: object) -> bytes:
    result = PoolResult(id=id, key="k", target="openai:gpt-5.2", prompt="p", **more)  # type: ignore[arg-type]
    return result_line(result).encode() + b"\n"


WHOLE = b"".join(line(id, text="zwölf") for id in "abc")


@given(st.integers(0, len(WHOLE)))
def test_a_file_cut_anywhere_keeps_its_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    """Half a line at the end is cut off, and the next line begins where it should."""
    path = tmp_path_factory.mktemp("pool") / "out.jsonl"
    path.write_bytes(WHOLE[:cut])
    file = ResultsFile(path)
    file.open()
    whole = [*"abc"][: WHOLE[:cut].count(b"\n")]
    assert [each.id for each in file.answers][: len(whole)] == whole and len(file.answers) <= len(whole) + 1
    asyncio.run(file.append(line("d").decode().strip()))
    file.close()
    again = ResultsFile(path)
    again.open()
    again.close()
    assert [each.id for each in again.answers] == [*(each.id for each in file.answers), "d"]


def test_failures_are_dropped_when_it_is_opened_again(tmp_path: Path) -> None:
    """Those prompts are asked again, so that each prompt has one line in the end."""
    path = tmp_path / "out.jsonl"
    path.write_bytes(
        line("a", text="x") + line("b", error=ProviderError("no", kind="overloaded")) + line("c")
    )
    file = ResultsFile(path)
    file.open()
    file.close()
    assert [each.id for each in file.answers] == ["a", "c"] and b"overloaded" not in path.read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.jsonl"]


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    """The user named the wrong file: it is refused by line, and not a byte of it is changed."""
    path = tmp_path / "prompts.jsonl"
    path.write_bytes(b'{"prompt": "one"}\n{"prompt": "two"}\n')
    with pytest.raises(UsageError, match="line 1 is not a result of a pool"):
        ResultsFile(path).open()
    assert path.read_bytes() == b'{"prompt": "one"}\n{"prompt": "two"}\n'


def hold_file(
    path: str, ready: multiprocessing.synchronize.Event, end: multiprocessing.synchronize.Event
) -> None:
    file = ResultsFile(path)
    file.open()
    ready.set()
    end.wait(60)


def test_one_process_has_the_file(tmp_path: Path) -> None:
    """A second one is refused while the first lives, also after the first wrote the file anew."""
    path = tmp_path / "out.jsonl"
    path.write_bytes(line("a") + b'{"half')
    spawn = multiprocessing.get_context("spawn")
    ready, end = spawn.Event(), spawn.Event()
    other = spawn.Process(target=hold_file, args=(str(path), ready, end))
    other.start()
    try:
        assert ready.wait(60)
        with pytest.raises(UsageError, match="another process writes"):
            ResultsFile(path).open()
    finally:
        end.set()
        other.join(60)
    file = ResultsFile(path)
    file.open()
    file.close()
    assert [each.id for each in file.answers] == ["a"]


def test_a_disk_that_does_not_take_a_line_is_an_error(tmp_path: Path) -> None:
    """The pool must not go on asking when answers cannot be kept."""
    file = ResultsFile(tmp_path / "out.jsonl")
    file.open()
    file._held.append(__import__("os").open("/dev/full", 1))
    with pytest.raises(StoreError, match="run again to resume"):
        asyncio.run(file.append("x"))
    file.close()
