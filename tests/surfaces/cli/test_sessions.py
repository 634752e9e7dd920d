"""`turnout sessions`, `import` and `doctor`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.interchange.foreign.sample_sessions import FILES

from turnout.store import Store
from turnout.surfaces.cli import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNOUT_STORE", str(tmp_path / "s.db"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def turnout(*arguments: object, code: int = 0, **options: Any) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert result.exit_code == code, result.output
    return result


def imported(home: Path, program: str = "claude-code", id: str = "abc") -> None:
    (path := home / f"{program}.in").write_bytes(FILES[program])
    assert turnout("import", program, path, "--id", id).stdout == f"{id}\n"


def test_a_session_of_another_program_is_taken_over(home: Path) -> None:
    """Its id on standard output, what was kept aside on the other."""
    (path := home / "x.jsonl").write_bytes(FILES["claude-code"])
    result = turnout("import", "claude-code", path)
    assert result.stderr == "foreign_record 1 of kind 'file-history-snapshot'\n"
    (line,) = json.loads(turnout("sessions", "--json").stdout)
    assert (line["id"], line["title"], line["turns"]) == (result.stdout.strip(), "Two files", 3)
    assert line["source"] == "claude-code:cc-1"


def test_sessions_are_listed_found_and_shown(home: Path) -> None:
    """By the beginning of an id too."""
    assert turnout("sessions").stdout == "No sessions yet.\n"
    imported(home)
    assert "Two files" in turnout("sessions").stdout
    assert "Only A." in turnout("sessions", "search", "only").stdout
    turnout("sessions", "search", "nowhere", code=1)
    assert turnout("sessions", "show", "ab").stdout.startswith("# Two files\n")
    assert "no session 'zz'" in turnout("sessions", "show", "zz", code=2).output


def test_sessions_are_renamed_forked_and_deleted(home: Path) -> None:
    """Deleting asks first."""
    imported(home)
    turnout("sessions", "rename", "abc", "Mine")
    assert turnout("sessions", "fork", "abc", "--at", "1").stdout == "abc.fork1\n"
    turnout("sessions", "delete", "abc.fork1", code=1, input="n\n")
    turnout("sessions", "delete", "abc.fork1", input="y\n")
    with Store(home / "s.db") as store:
        assert [(line.id, line.title) for line in store.list()] == [("abc", "Mine")]


@pytest.mark.parametrize(
    ("name", "begins"), [("a.jsonl", "{"), ("a.md", "# Two"), ("a.html", "<!doctype html>")]
)
def test_an_export_is_named_by_its_file_and_written_over_nothing(home: Path, name: str, begins: str) -> None:
    """For its owner alone."""
    imported(home)
    turnout("sessions", "export", "abc", "--to", home / name)
    assert (home / name).read_text().startswith(begins)
    assert (home / name).stat().st_mode & 0o777 == 0o600
    assert (
        "nothing is written over" in turnout("sessions", "export", "abc", "--to", home / name, code=2).output
    )


def test_an_export_can_be_imported_again(home: Path) -> None:
    """Also one whose last line is torn, which is said."""
    imported(home)
    turnout("sessions", "export", "abc", "--to", home / "a.jsonl")
    torn = (home / "a.jsonl").read_bytes()[:-20]
    (home / "torn.jsonl").write_bytes(torn)
    result = turnout("import", "turnout", home / "torn.jsonl", "--id", "again")
    assert result.stderr.startswith("torn_tail ")
    with Store(home / "s.db") as store:
        assert len(store.read("again").turns) == 2


def test_pruning_says_what_goes_and_asks(home: Path) -> None:
    """And wants to know what may go."""
    imported(home)
    assert "prune needs a limit" in turnout("sessions", "prune", code=2).output
    assert "not an age" in turnout("sessions", "prune", "--older-than", "soon", code=2).output
    assert turnout("sessions", "prune", "--older-than", "1d").stdout == ""
    assert "abc" in turnout("sessions", "prune", "--larger-than", "1", "--dry-run").stdout
    assert turnout("sessions", "prune", "--larger-than", "1", "-y").stdout.endswith("deleted 1\n")
