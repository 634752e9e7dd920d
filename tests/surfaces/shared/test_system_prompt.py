"""The system prompt: short, true, and in named parts."""

from __future__ import annotations

import re
from pathlib import Path

from turnout.surfaces.shared.system_prompt import HOW_TO_WORK, family_words, system_parts, system_prompt
from turnout.targets.target import find_target
from turnout.world.config import load_config


def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/feature/x\n")
    return folder


def test_the_prompt_says_where_we_are(tmp_path: Path) -> None:
    """Date, system, shell, folder and branch; git is not run for that."""
    folder = project(tmp_path)
    config = load_config({"HOME": str(tmp_path), "SHELL": "/usr/bin/fish"}, folder)
    text = system_prompt(config, find_target("anthropic:claude-sonnet-4-5"))
    assert re.search(r"Today is \w+, \d{4}-\d\d-\d\d\.", text)
    assert "fish" in text and str(folder) in text and "branch is feature/x" in text
    assert [part.name for part in system_parts(config)] == ["how to work", "surroundings"]


def test_the_prompt_is_short(tmp_path: Path) -> None:
    """Every request carries it, so its size is bounded: about 400 tokens without the project's file."""
    config = load_config({"HOME": str(tmp_path)}, tmp_path)
    assert len(HOW_TO_WORK) < 1_200
    assert len(system_prompt(config, find_target("gemini:gemini-3-pro"))) - len(str(tmp_path)) < 1_600


def test_the_projects_file_and_the_users_prompt_take_their_places(tmp_path: Path) -> None:
    """AGENTS.md follows; --system replaces how to work, not where we are."""
    folder = project(tmp_path)
    (folder / "AGENTS.md").write_text("Use tabs.")
    config = load_config({"HOME": str(tmp_path)}, folder, system="Be a poet.")
    names = [part.name for part in system_parts(config)]
    text = system_prompt(config)
    assert names == ["your prompt", "surroundings", "AGENTS.md"]
    assert text.startswith("Be a poet.") and text.endswith("Use tabs.") and HOW_TO_WORK not in text


def test_only_some_families_need_more_words() -> None:
    """Local models are told that a call in their answer is not run."""
    assert family_words("claude-sonnet-4-5") == family_words("kimi-k2.5") == ""
    assert "apply_patch" in family_words("gpt-5.1")
    assert "is not run" in family_words("qwen3:8b") == family_words("llama3.2:3b")
