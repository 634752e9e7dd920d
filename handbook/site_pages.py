"""Which pages the site has, and which of them its navigation names. Needs nothing but the files."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ROOT_PAGES = {
    "changes.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
"""Pages of the site that stand at the root of the repository, where people look for them."""

FOLDER_LISTS = {"DECISIONS": "decisions", "PROVIDERS": "providers"}
"""Words in the navigation that stand for every page of a folder, so that a new page needs no line."""


def all_pages() -> set[str]:
    """Every page of the site, by its path below docs/."""
    return {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} | set(ROOT_PAGES)


def pages_of_folder(folder: str) -> list[str]:
    """The pages of a folder of docs/, but for the one that introduces them."""
    found = sorted((DOCS / folder).glob("*.md"))
    return [f"{folder}/{page.name}" for page in found if page.name != "README.md"]


def pages_in_nav() -> list[str]:
    """The pages that the navigation in `mkdocs.yml` names, in its order."""
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    pages: list[str] = []
    for word in re.findall(r"([\w./-]+\.md|\b[A-Z]{4,}\b)$", nav, re.MULTILINE):
        pages += pages_of_folder(FOLDER_LISTS[word]) if word in FOLDER_LISTS else [word]
    return pages
