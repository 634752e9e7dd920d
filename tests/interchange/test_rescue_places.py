"""Where other agents keep the sessions of a folder."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interchange.agent_homes import furnish_home, program_files

from turnout.interchange.rescue_places import claude_folder, pi_folder, sessions_of_folder


def test_the_names_that_programs_give_a_folder() -> None:
    """As the programs write them."""
    assert claude_folder(Path("/home/me/my.app")) == "-home-me-my-app"
    assert pi_folder(Path("/home/me/app")) == "--home-me-app--"


def test_a_rollout_belongs_to_the_folder_in_its_head(tmp_path: Path) -> None:
    """Codex keeps all folders together; a rollout whose head is lost is offered everywhere."""
    folder, home = tmp_path / "a", tmp_path / "home"
    place, data = program_files(folder)["codex"]
    path = home / place
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    known = {"HOME": str(home)}
    assert len(sessions_of_folder(folder, known)) == 1 and not sessions_of_folder(tmp_path / "b", known)
    path.write_bytes(b"\n".join(line for line in data.split(b"\n") if b"cwd" not in line))
    assert len(sessions_of_folder(tmp_path / "b", known)) == 1


def test_gemini_names_its_folders_in_three_ways(tmp_path: Path) -> None:
    """By a hash, by a short name in projects.json, and by a file that names the folder."""
    folder, base = tmp_path / "a", tmp_path / "home/.gemini"
    data = program_files(folder)["gemini-cli"][1]
    for name in ("short", "marked"):
        chats = base / "tmp" / name / "chats"
        chats.mkdir(parents=True)
        (chats / "session-1.jsonl").write_bytes(data)
    (base / "projects.json").write_text(json.dumps({"projects": {str(folder): "short"}}))
    (base / "tmp/marked/.project_root").write_text(f"{folder}\n")
    assert len(sessions_of_folder(folder, {"HOME": str(tmp_path / "home")})) == 2


def test_the_last_used_comes_first(tmp_path: Path) -> None:
    """Whatever program wrote it."""
    folder, home = tmp_path / "work", tmp_path / "home"
    furnish_home(home, folder)
    times = [found.updated for found in sessions_of_folder(folder, {"HOME": str(home)})]
    assert len(times) == 6 and times == sorted(times, reverse=True)
