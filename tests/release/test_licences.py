"""The licences of what an installation brings: permissive, or listed with the reason, and on a page."""

from __future__ import annotations

import re

import pytest
from release.licences import EXCEPTIONS, PAGE, LicensedPackage, licence_of, licences_page, licensed_packages

LINE = re.compile(r"^\| ([\w-]+) \| ([^|]+) \|", re.MULTILINE)
FOUND = licensed_packages()


@pytest.mark.parametrize("package", FOUND, ids=lambda package: package.name)
def test_every_licence_is_permissive_or_has_a_reason(package: LicensedPackage) -> None:
    """Read from the metadata of what is installed, for turnout and each of its extras."""
    assert package.is_permissive or package.name in EXCEPTIONS, package


def test_exceptions_come_with_extras_only() -> None:
    """`pip install turnout` brings permissive licences and nothing else."""
    by_name = {package.name: package for package in FOUND}
    named = [by_name[name] for name in EXCEPTIONS if name in by_name]
    assert named and not any("turnout" in package.brought_by or package.is_permissive for package in named)


def test_the_page_lists_what_is_installed() -> None:
    """`python -m release --quick` writes it anew where a package came, went or changed its licence."""
    written = dict(LINE.findall(PAGE.read_text()))
    missing = {
        name: licence for name, licence in LINE.findall(licences_page()) if written.get(name) != licence
    }
    assert not missing, "run: python -m release --quick"


@pytest.mark.parametrize(
    ("licence", "is_permissive"),
    [
        *(("MIT", True), ("MIT AND PSF-2.0", True), ("Apache-2.0 OR BSD-3-Clause", True)),
        *(("GPL-3.0-only", False), ("MIT AND GPL-3.0-only", False), ("unknown", False), ("", False)),
    ],
)
def test_a_licence_is_judged_by_all_its_parts(licence: str, is_permissive: bool) -> None:
    """Of a choice one part is enough; of a sum all must be permissive."""
    assert LicensedPackage("a", licence, ()).is_permissive is is_permissive


def test_licences_are_read_in_the_words_of_their_packages() -> None:
    """From the expression, the old field, or the classifiers."""
    found = {name: licence_of(name) for name in ("msgspec", "jinja2", "botocore", "psycopg")}
    assert found == {
        "msgspec": "BSD-3-Clause", "jinja2": "BSD", "botocore": "Apache-2.0", "psycopg": "LGPL-3.0-only"
    }  # fmt: skip
