"""The site has a way in to every page, and the reference has every public name."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from handbook.name_list import documented_names, summary_of
from handbook.site_pages import DOCS, ROOT, ROOT_PAGES, all_pages, pages_in_nav

import turnout
from turnout import simulate, testing, workers

REFERENCE = DOCS / "reference"
NAMES = sorted(set(turnout.__all__) - {"__version__"})


def test_every_page_has_one_way_in() -> None:
    """The navigation names each page once, and none that is not there."""
    named = Counter(pages_in_nav())
    missing = all_pages() - set(named)
    assert not missing, f"no way in to {sorted(missing)}: add it to `nav` in mkdocs.yml"
    assert not set(named) - all_pages(), "a page of `nav` in mkdocs.yml is not there"
    assert [page for page, times in named.items() if times > 1] == []


def test_the_pages_from_the_root_exist() -> None:
    """Changes, contributing and security are pages of the site too."""
    assert [source for source in ROOT_PAGES.values() if not (ROOT / source).exists()] == []


def test_every_decision_has_a_number_of_its_own() -> None:
    """A link to a decision by its number leads to one page."""
    numbers = Counter(page.name[:4] for page in DOCS.glob("decisions/*.md"))
    assert [number for number, times in numbers.items() if times > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    """A name that can be imported from turnout has a place in docs/reference, and a docstring."""
    assert name in documented_names(REFERENCE), f"add `::: turnout.{name}` to a page of docs/reference"
    assert summary_of(name), f"{name} needs a docstring"


def test_the_reference_has_no_name_that_is_not_public() -> None:
    """And each of them once."""
    text = "".join(page.read_text() for page in sorted(REFERENCE.glob("*.md")))
    found = Counter(re.findall(r"^::: turnout\.([\w.]+)$", text, re.MULTILINE))
    others = [name for name in simulate.__all__ if name not in testing.__all__]
    packages = [("testing", testing.__all__), ("simulate", others), ("workers", workers.__all__)]
    inner = [f"{package}.{name}" for package, names in packages for name in names]
    assert sorted(found.elements()) == sorted([*NAMES, *inner])


def test_links_to_a_part_of_a_page_find_it() -> None:
    """Every `page.md#part` is a heading of that page."""
    for page in DOCS.rglob("*.md"):
        for target, part in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", page.read_text()):
            other = page.parent / target if target else page
            assert part in heading_ids(other.read_text()), f"{page.name}: {target}#{part}"


def heading_ids(text: str) -> set[str]:
    """The ids that headings of a page get: small letters, digits and hyphens."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", words).strip().lower()) for words in headings}


@pytest.fixture(scope="module")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from this checkout; a warning is an error."""
    python = ROOT / ".venv-docs" / "bin" / "python"
    if not python.exists():
        pytest.skip("mkdocs is not installed: `make docs` installs it into .venv-docs")
    folder = tmp_path_factory.mktemp("site")
    command = [python, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_search_finds_every_public_name(built_site: Path) -> None:
    """Each name is a heading in the index of the search."""
    index = json.loads((built_site / "search" / "search_index.json").read_text())
    places = {entry["location"] for entry in index["docs"]}
    pages = documented_names(REFERENCE)
    wanted = {f"reference/{pages[name].removesuffix('.md')}.html#turnout.{name}" for name in NAMES}
    assert wanted - places == set()


def test_a_struct_is_shown_with_its_fields(built_site: Path) -> None:
    """msgspec makes the parameters of a Struct from its fields; a comment behind one describes it."""
    tools, sessions = (
        re.sub(r"<[^>]+>", "", (built_site / "reference" / name).read_text())
        for name in ("tools.html", "sessions.html")
    )
    assert re.search(r"Approval\(\s*mode: Mode = (?:\"|&quot;)ask", tools) and "save_rule:" in tools
    assert re.search(r"Limits\(\s*\*,\s*cost:", sessions) and "one last answer without tools" in sessions


def test_built_pages_load_nothing_from_elsewhere(built_site: Path) -> None:
    """No script, style, font or picture has an address of another host."""
    loading = re.compile(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"?(?:https?:)?//[^\">]*")
    for page in built_site.rglob("*.html"):
        assert not [tag for tag in loading.findall(page.read_text()) if 'rel="canonical"' not in tag]
    for file in [*built_site.rglob("*.css"), *built_site.rglob("*.svg")]:
        assert not re.search(r"(?:url\(|@import)\W*https?:", file.read_text()), file.name
    for script in built_site.rglob("*.js"):
        assert not re.search(r"https?://[\w./-]*(?:unpkg|jsdelivr|cdnjs)", script.read_text()), script.name
