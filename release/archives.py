"""The wheel and the source archive: built by flit_core, without a network, and checked."""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from flit_core import buildapi

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "turnout"
BESIDE_PACKAGE = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO")
"""What the source archive holds besides the package."""


def build_archives(folder: Path) -> tuple[Path, Path]:
    """Build both into a folder: the wheel and the source archive."""
    folder.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(ROOT)  # a build backend works on the current folder: PEP 517
    try:
        return folder / buildapi.build_wheel(str(folder)), folder / buildapi.build_sdist(str(folder))
    finally:
        os.chdir(before)


def files_of_package() -> set[str]:
    """The files that users get: `turnout/model.py`, templates, styles, `py.typed`; those that git tracks."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "src/turnout"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    return {name.removeprefix("src/") for name in listed if name and (ROOT / name).exists()}


def names_in(archive: Path) -> set[str]:
    """The files in an archive; of a source archive without the folder that it unpacks to."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name for name in wheel.namelist() if not name.endswith("/")}
    with tarfile.open(archive) as source:
        return {member.name.partition("/")[2] for member in source.getmembers() if member.isfile()}


def problems_of_wheel(names: Iterable[str], wanted: set[str], version: str) -> list[str]:
    """What is missing in a wheel, or has no business in it."""
    beside = f"turnout-{version}.dist-info/"
    own = {name for name in names if not name.startswith(beside)}
    notes = {name.removeprefix(beside) for name in names if name.startswith(beside)}
    lacking = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"} - notes
    return [*_differences(own, wanted), *(f"{beside}{name} is missing" for name in sorted(lacking))]


def problems_of_source(names: Iterable[str], wanted: set[str]) -> list[str]:
    """What is missing in a source archive, or has no business in it."""
    return _differences(set(names), {f"src/{name}" for name in wanted} | set(BESIDE_PACKAGE))


def _differences(found: set[str], wanted: set[str]) -> list[str]:
    missing = [f"{name} is missing" for name in sorted(wanted - found)]
    return missing + [f"{name} does not belong there" for name in sorted(found - wanted)]
