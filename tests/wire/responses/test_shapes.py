"""The shapes of items that Responses accepts."""

from __future__ import annotations

import pytest

from turnout.wire.responses.shapes import CALLS, ITEMS, OUTPUTS, AnyItem
from turnout.wire.shared.residues import fits

SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}


def test_a_whole_item_fits() -> None:
    """Additional fields are allowed."""
    assert fits({**SEARCH, "extra": 1}, ITEMS["web_search_call"])


@pytest.mark.parametrize("field", ["id", "status", "action"])
def test_a_required_field_is_required(field: str) -> None:
    """One missing field has the whole request refused."""
    damaged = {name: value for name, value in SEARCH.items() if name != field}
    assert not fits(damaged, ITEMS["web_search_call"])


def test_a_deleted_file_has_no_diff() -> None:
    """A created or updated one has."""
    call = {"type": "apply_patch_call", "status": "completed"}

    assert fits({**call, "operation": {"type": "delete_file", "path": "a"}}, CALLS["apply_patch_call"])
    assert not fits({**call, "operation": {"type": "update_file", "path": "a"}}, CALLS["apply_patch_call"])


def test_an_unknown_item_needs_a_type() -> None:
    """Its other fields are not checked."""
    assert fits({"type": "hologram"}, AnyItem) and not fits({"id": "x"}, AnyItem)


def test_every_call_has_an_output() -> None:
    """A form of a call is answered in the same form."""
    stems = {name.removesuffix("_call") for name in CALLS}
    assert stems == {name.removesuffix("_output").removesuffix("_call") for name in OUTPUTS}
