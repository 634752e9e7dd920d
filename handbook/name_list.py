"""The public names, each with the page of the reference that has it and the first line of its docstring."""

from __future__ import annotations

import re
from pathlib import Path
from types import UnionType
from typing import get_args

import turnout

DIRECTIVE = re.compile(r"^::: turnout\.(\w+)$", re.MULTILINE)


def documented_names(reference: Path) -> dict[str, str]:
    """Each public name that a page of the reference has, and the page."""
    return {
        name: page.name
        for page in sorted(reference.glob("*.md"))
        for name in DIRECTIVE.findall(page.read_text())
    }


def name_table(reference: Path) -> str:
    """All public names in the order of the alphabet."""
    lines = ["| name | what it is |", "|---|---|"]
    pages = documented_names(reference)
    for name in sorted(pages, key=str.lower):
        lines.append(f"| [`{name}`]({pages[name]}#turnout.{name}) | {summary_of(name)} |")
    return "\n".join(lines) + "\n"


def summary_of(name: str) -> str:
    """The first sentence that the docstring of a public name says."""
    value = getattr(turnout, name)
    if isinstance(value, UnionType):
        return "One of " + ", ".join(f"`{kind.__name__}`" for kind in get_args(value)) + "."
    text = (getattr(value, "__doc__", "") or "").strip()
    return text.partition("\n\n")[0].replace("\n", " ").replace("    ", " ").replace("|", "\\|")
