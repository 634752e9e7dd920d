"""Prompts that wait are in a file until they are sent."""

from __future__ import annotations

from pathlib import Path

from turnout.surfaces.terminal.unsent import UnsentPrompts
from turnout.world.places import Places


def test_waiting_prompts_are_kept_for_their_session(tmp_path: Path) -> None:
    """They are given back once, to their session; sent prompts leave no file behind."""
    unsent = UnsentPrompts(Places.of({"HOME": str(tmp_path)}))
    unsent.save("s1", ["first", "second\nline"])
    unsent.save("../evil", ["x"])
    again = UnsentPrompts(Places.of({"HOME": str(tmp_path)}))
    assert again.take("s2") == []
    assert again.take("s1") == ["first", "second\nline"] and again.take("s1") == []
    again.save("../evil", [])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
