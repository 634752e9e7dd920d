"""What pages say about the API exists: names, attributes and parameters in backticks."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from handbook.site_pages import DOCS, ROOT

import turnout
from turnout.testing import TurnoutFixture  # in a test, `turnout` is a fixture of pytest

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [page for page in PAGES if page.parent.name != "decisions"]  # they tell of earlier names, too
TICKED = re.compile(r"`([^`\n]+)`")
OBJECTS = {"session": turnout.Session, "history": turnout.History, "store": turnout.Store}
"""Words that stand for an object of the class, wherever a page uses them."""
NOT_OF_PYTHON = {"entry": "a table in PostgreSQL"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_backticks_exist(page: Path) -> None:
    """`turnout.NAME`, `Class.attribute` and `session.method` are there."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    wrong = [word for word in TICKED.findall(text) if not is_known(word)]
    assert not wrong, f"{page.name} names what is not there: {wrong}"


def is_known(words: str) -> bool:
    """Whether what a piece of code names is there; pieces that name nothing of ours count as known."""
    owners = {name: getattr(turnout, name) for name in turnout.__all__} | OBJECTS
    if (found := re.match(r"turnout\.([a-zA-Z_]\w*)(?:\(|$|\.\w)", words)) and not hasattr(turnout, found[1]):
        return found[1] in NOT_OF_PYTHON or hasattr(TurnoutFixture, found[1])
    if found := re.match(r"(?:turnout\.)?(\w+)\.([a-z_]\w*)(?:\(|$)", words):
        owner = owners.get(found[1])
        return owner is None or has_attribute(owner, found[2])
    if found := re.match(r"(?:turnout\.)?([A-Z]\w+)\((\w+)=", words):
        owner = owners.get(found[1])
        return owner is None or found[2] in parameters_of(owner)
    return True


def has_attribute(owner: Any, name: str) -> bool:
    return hasattr(owner, name) or name in getattr(owner, "__annotations__", {}) or name in set_in_init(owner)


def set_in_init(owner: Any) -> set[str]:
    """The attributes that an object sets on itself."""
    source = inspect.getsource(owner) if inspect.isclass(owner) else ""
    return set(re.findall(r"self\.(\w+)(?:: [^=\n]+)? = ", source))


def parameters_of(owner: Any) -> set[str]:
    try:
        return set(inspect.signature(owner).parameters)
    except (TypeError, ValueError):
        return set(getattr(owner, "__struct_fields__", ()))


@pytest.mark.parametrize(
    "words", ["ApprovalRequest.shown", "session.tell", "Approval(deferred=True)", "turnout.tell()"]
)
def test_a_name_that_is_not_there_is_found(words: str) -> None:
    """The test above can fail."""
    assert not is_known(words)


@pytest.mark.parametrize(
    "words", ["ApprovalRequest.visible_arguments", "session.ask", "Approval(defer=True)", "client.create()"]
)
def test_a_name_that_is_there_is_known(words: str) -> None:
    """And names of other libraries are none of its business."""
    assert is_known(words)
