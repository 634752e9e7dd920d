"""What is installed: the core alone, the extras by name, and lock files that hold all of it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from turnout.surfaces.shared.extras import EXTRA_OF

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CORE = PROJECT["project"]["dependencies"]
EXTRAS = PROJECT["project"]["optional-dependencies"]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
ENTRY = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+).*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
SYSTEMS = [
    {"sys_platform": name, "platform_system": system, "os_name": family}
    for name, system, family in (
        ("linux", "Linux", "posix"),
        ("darwin", "Darwin", "posix"),
        ("win32", "Windows", "nt"),
    )
]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def names_of(lines: list[str]) -> set[str]:
    """The distributions that these requirements name."""
    return {canonicalize_name(Requirement(line).name) for line in lines}


def pinned(lock: str) -> dict[str, set[str]]:
    """Each distribution of a lock file, with its versions (more than one where a marker decides)."""
    found: dict[str, set[str]] = {}
    for entry in ENTRY.finditer((ROOT / "requirements" / lock).read_text()):
        found.setdefault(canonicalize_name(entry["name"]), set()).add(entry["version"])
    return found


def needed_by(name: str) -> Iterator[str]:
    """What a distribution needs on some system and Python that we support, without its extras."""
    for requirement in map(Requirement, requires(name) or ()):
        marker = requirement.marker
        environments = [
            {**system, "python_version": python, "python_full_version": f"{python}.0", "extra": ""}
            for system in SYSTEMS
            for python in PYTHONS
        ]
        if marker is None or any(marker.evaluate(environment) for environment in environments):
            yield canonicalize_name(requirement.name)


def test_the_core_is_four_packages() -> None:
    """`pip install turnout` brings values, JSON, HTTP, schemas and SQLite, and no terminal or server."""
    assert names_of(CORE) == {"msgspec", "httpx2", "jsonschema-rs", "apsw"}


def test_all_is_every_other_extra() -> None:
    """`turnout[all]` names each extra, so that one added later cannot be forgotten."""
    (everything,) = EXTRAS["all"]
    assert Requirement(everything).extras == set(EXTRAS) - {"all"}


def test_every_package_of_an_extra_has_its_advice() -> None:
    """What an import error can name leads to an extra that really brings that package."""
    distributions = packages_distributions()
    for package, extra in EXTRA_OF.items():
        brought = names_of(EXTRAS[extra])
        brought |= {name for each in brought for name in needed_by(each)}
        assert {canonicalize_name(name) for name in distributions[package]} & brought, package


def test_what_the_demo_installs_is_the_product_without_test_tools() -> None:
    """`requirements/runtime.in` is the core, tools, terminal, simulator, gateway, and what builds them."""
    lines = (ROOT / "requirements" / "runtime.in").read_text().splitlines()
    parts = [*CORE, *EXTRAS["tools"], *EXTRAS["terminal"], *EXTRAS["simulate"], *EXTRAS["gateway"]]
    assert names_of(lines) == names_of([*parts, *PROJECT["build-system"]["requires"]])


def test_the_small_lock_file_is_complete() -> None:
    """Nothing that a package of `runtime.txt` needs is missing from it, on any system."""
    names = pinned("runtime.txt")
    asked = names_of((ROOT / "requirements" / "runtime.in").read_text().splitlines())
    here = installed()
    missing = {(name, need) for name in names if name in here for need in needed_by(name)}
    assert asked <= set(names) and {need for _, need in missing} <= set(names)


def test_the_small_lock_file_pins_what_the_large_one_pins() -> None:
    """`make test` after `make demo` adds packages and changes none."""
    large = pinned("dev.txt")
    assert {name: large.get(name) for name in pinned("runtime.txt")} == pinned("runtime.txt")
    assert names_of([line for extra in EXTRAS.values() for line in extra]) - {"turnout"} <= set(large)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_lock_files_hold_hashes_and_no_address(lock: Path) -> None:
    """Every entry has a hash, and no line says from which index it was taken."""
    text = lock.read_text()
    assert all("--hash=sha256:" in entry[0] for entry in ENTRY.finditer(text))
    assert "://" not in text and "--index" not in text and "--find-links" not in text


def installed() -> set[str]:
    return {canonicalize_name(name) for names in packages_distributions().values() for name in names}


def test_the_library_works_without_any_extra(tmp_path: Path) -> None:
    """Ingest, render, check, decode and a stored session with a tool over loopback need the core only."""
    program = [sys.executable, str(Path(__file__).parent / "without_extras.py"), str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, env={"HOME": str(tmp_path)})
    assert done.stdout == "all of it works\n", done.stderr
