"""The licences of everything that an installation of turnout brings, from the packages' own metadata."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .archives import ROOT

PAGE = ROOT / "docs" / "licences.md"
PERMISSIVE = {
    *("MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "BSD", "Apache-2.0", "ISC", "PSF-2.0", "0BSD"),
    *("Zlib", "any-OSI"),
}
WORDS = (
    ("any-OSI", r"any-OSI"),
    ("Apache-2.0", r"Apache"),
    ("MIT-0", r"MIT-0"),
    ("MIT", r"\bMIT\b"),
    ("BSD-2-Clause", r"BSD-2"),
    ("BSD-3-Clause", r"BSD-3"),
    ("BSD", r"\bBSD\b"),
    ("PSF-2.0", r"PSF|Python Software Foundation"),
    ("ISC", r"\bISC\b"),
)
"""How packages write their licence where they do not use the names of SPDX."""

EXCEPTIONS = {
    "psycopg": "LGPL: used as it is, it asks nothing of your own code; comes with `postgres` and `dbos` only",
    "psycopg-binary": "LGPL: as psycopg",
    "psycopg-pool": "LGPL: as psycopg",
}
"""Packages whose licence is not permissive, with the reason why they are there."""


@dataclass(frozen=True)
class LicensedPackage:
    """One package, its licence, and what brings it: turnout itself, or extras."""

    name: str
    licence: str
    brought_by: tuple[str, ...]

    @property
    def is_permissive(self) -> bool:
        choices = re.split(r"\s+(?:AND|OR|/|,)\s+", self.licence)
        judged = [choice in PERMISSIVE for choice in choices]
        return bool(judged) and (any(judged) if " OR " in self.licence else all(judged))


def licensed_packages() -> list[LicensedPackage]:
    """Every package that turnout or one of its extras installs here, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"turnout": project["dependencies"], **project["optional-dependencies"]}
    brought: dict[str, list[str]] = {}
    for group, lines in groups.items():
        for name in packages_for(lines) if group != "all" else ():
            brought.setdefault(name, []).append(group)
    return [LicensedPackage(name, licence_of(name), by_whom(brought[name])) for name in sorted(brought)]


def by_whom(groups: Iterable[str]) -> tuple[str, ...]:
    """Where turnout itself brings a package, its extras need not be named."""
    found = tuple(groups)
    return ("turnout",) if "turnout" in found else found


def packages_for(lines: Iterable[str]) -> set[str]:
    """The packages that these requirements install on this system, with all that they need."""
    waiting = [(Requirement(line), frozenset[str]()) for line in lines]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted, outer = waiting.pop()
        if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *outer)):
            continue
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key not in seen:
            seen.add(key)
            waiting += [(Requirement(each), key[1]) for each in metadata.requires(wanted.name) or ()]
    return {name for name, _ in seen}


def licence_of(name: str) -> str:
    """The licence in the words of SPDX, as far as the package's metadata has it."""
    fields = metadata.metadata(name)
    if expression := fields.get("License-Expression"):
        return expression
    classes = [
        line.rpartition("::")[2] for line in fields.get_all("Classifier") or () if "License ::" in line
    ]
    for words in (fields.get("License", ""), " ".join(classes)):
        if found := list(_known_licences(words[:200])):
            return " OR ".join(found)
    return "unknown"


def _known_licences(words: str) -> Iterator[str]:
    found = [licence for licence, pattern in WORDS if re.search(pattern, words)]
    yield from (
        each for each in found if not any(each != other and other.startswith(each) for other in found)
    )


def licences_page() -> str:
    """The page of the documentation."""
    rows = [
        f"| {each.name} | {each.licence} | {', '.join(f'`{by}`' for by in each.brought_by)} |"
        for each in licensed_packages()
    ]
    reasons = [f"- {name}: {reason}." for name, reason in EXCEPTIONS.items()]
    return "\n".join([HEAD, *rows, "", "Not permissive, and why they are there:", "", *reasons, ""])


HEAD = """# Licences

turnout has the MIT licence. This is what an installation on Linux brings, with the licence that each package
states, and what brings it: `turnout` itself, or an extra. `make release` writes this page from the metadata
of the packages. `tests/release/test_licences.py` checks that each is permissive, or has a reason below.

| package | licence | comes with |
|---|---|---|"""


def write_page() -> Path:
    PAGE.write_text(licences_page())
    return PAGE
