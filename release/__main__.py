"""`python -m release`: build, check, install clean on every Python found, try each extra, list licences."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError

import turnout

from .archives import (
    ROOT,
    build_archives,
    files_of_package,
    names_in,
    problems_of_source,
    problems_of_wheel,
)
from .licences import EXCEPTIONS, licensed_packages, write_page
from .pythons import VERSIONS, fill_wheelhouse, found_pythons, install_wheel, make_environment
from .smoke import SMOKE, try_extra


def main(words: list[str]) -> int:
    wheel, problems = check_archives(ROOT / "dist")
    problems += check_licences()
    if "--quick" not in words:
        problems += check_installations(wheel)
    for problem in problems:
        print(f"PROBLEM: {problem}")
    print(f"{wheel.name}: {len(problems)} problems" if problems else f"{wheel.name} can be given out")
    return 1 if problems else 0


def check_archives(folder: Path) -> tuple[Path, list[str]]:
    wheel, source = build_archives(folder)
    wanted = files_of_package()
    print(f"{wheel.name} and {source.name}: {len(wanted)} files of the package")
    found = problems_of_wheel(names_in(wheel), wanted, turnout.__version__)
    return wheel, found + problems_of_source(names_in(source), wanted)


def check_licences() -> list[str]:
    packages = licensed_packages()
    print(f"{write_page().relative_to(ROOT)}: {len(packages)} packages")
    wrong = [each for each in packages if not each.is_permissive and each.name not in EXCEPTIONS]
    return [f"{each.name} has the licence {each.licence}" for each in wrong]


def check_installations(wheel: Path) -> list[str]:
    """Each extra in a clean environment of each Python."""
    pythons = found_pythons()
    if absent := [version for version in VERSIONS if version not in pythons]:
        print(f"not tried, since this machine has no Python {', '.join(absent)}")
    return [
        problem for version, python in pythons.items() for problem in check_extras(version, python, wheel)
    ]


def check_extras(version: str, python: Path, wheel: Path) -> Iterator[str]:
    """What goes wrong with each extra on one Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            wheelhouse = fill_wheelhouse(python, wheel, folder)
        except CalledProcessError as error:
            yield f"Python {version}: not all packages could be fetched: {error}"
            return
        for extra in SMOKE:
            problem = try_installation(python, wheelhouse, extra, folder)
            print(f"Python {version}, turnout[{extra}]: {'FAILS' if problem else 'works'}", flush=True)
            if problem:
                yield f"Python {version}, turnout[{extra}]: {problem}"


def try_installation(python: Path, wheelhouse: Path, extra: str, folder: Path) -> str:
    environment = make_environment(python, folder / "environment")
    try:
        install_wheel(environment, wheelhouse, extra)
    except CalledProcessError as error:
        return f"cannot be installed: {error}"
    return try_extra(environment, extra, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
