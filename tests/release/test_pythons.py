"""Finding Pythons and pinning what is installed in their environments; and a program for each extra."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from release.archives import ROOT
from release.pythons import VERSIONS, found_pythons, make_environment, version_of, write_pins
from release.smoke import SMOKE, try_extra


def test_this_python_is_among_those_found() -> None:
    """Each version once, in order; programs that do not start are passed over."""
    found = found_pythons()
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in found
    assert list(found) == [version for version in VERSIONS if version in found]
    assert version_of(Path("/bin/false")) == ""


def test_pins_are_the_lock_file_without_hashes(tmp_path: Path) -> None:
    """Every entry is a requirement that pip reads; markers stay."""
    lines = write_pins(tmp_path / "pins.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines]
    assert {"msgspec", "dbos", "mcp"} <= {pin.name for pin in pins} and "hash" not in "".join(lines)
    assert len(pins) == (ROOT / "requirements" / "dev.txt").read_text().count("==") - sum(
        line.count("==") - 1 for line in lines
    )


def test_every_extra_has_a_program_that_tries_it() -> None:
    """An extra that is added later is tried too, and turnout alone."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(SMOKE) == {"", *extras}


def test_an_environment_without_turnout_fails_the_program(tmp_path: Path) -> None:
    """The programs do not find the turnout of this checkout by accident."""
    environment = make_environment(Path(sys.executable), tmp_path / "environment")
    assert "No module named 'turnout'" in try_extra(environment, "", tmp_path)
