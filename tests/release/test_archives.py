"""What users get: the wheel and the source archive hold the package, all of it, and nothing else."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from release.archives import (
    BESIDE_PACKAGE,
    ROOT,
    build_archives,
    files_of_package,
    names_in,
    problems_of_source,
    problems_of_wheel,
)

import turnout

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="not tested: only git knows which files belong to the package"
)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build_archives(tmp_path_factory.mktemp("dist"))


def test_the_wheel_is_the_package(archives: tuple[Path, Path]) -> None:
    """Every tracked file is in it, with templates, styles and data; tests and stray files are not."""
    wanted = files_of_package()
    kinds = {Path(name).suffix for name in wanted}
    assert {".py", ".html", ".css", ".js", ".json"} <= kinds and "turnout/py.typed" in wanted
    assert problems_of_wheel(names_in(archives[0]), wanted, turnout.__version__) == []


def test_the_source_archive_is_the_package_and_what_builds_it(archives: tuple[Path, Path]) -> None:
    """Beside the package stand the project file, the readme, the licence and the changes."""
    assert problems_of_source(names_in(archives[1]), files_of_package()) == []


def test_stray_and_missing_files_are_told() -> None:
    """The checks above can fail: for a test in the wheel, a template that was left out, a lost licence."""
    wanted = {"turnout/py.typed", "turnout/a.html"}
    notes = {f"turnout-1.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    found = problems_of_wheel({"turnout/py.typed", "tests/test_a.py", *notes}, wanted, "1")
    assert found == [
        "turnout/a.html is missing",
        "tests/test_a.py does not belong there",
        "turnout-1.dist-info/licenses/LICENSE is missing",
    ]
    source = {f"src/{name}" for name in wanted} | set(BESIDE_PACKAGE) | {"notes.txt"}
    assert problems_of_source(source, wanted) == ["notes.txt does not belong there"]


def test_the_metadata_says_what_it_is(archives: tuple[Path, Path]) -> None:
    """Version, licence, Pythons and that it has types."""
    with zipfile.ZipFile(archives[0]) as wheel:
        written = wheel.read(f"turnout-{turnout.__version__}.dist-info/METADATA").decode()
    for line in (f"Version: {turnout.__version__}", "License-Expression: MIT", "Requires-Python: >=3.11"):
        assert f"\n{line}\n" in written
    assert "Classifier: Typing :: Typed\n" in written


def test_the_changes_begin_with_this_version() -> None:
    """Whoever reads `CHANGELOG.md` sees first what this version brings."""
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None and first[1] == turnout.__version__
