"""Which blocks Anthropic takes back."""

from __future__ import annotations

from turnout.wire.anthropic.blocks import damage_of, is_newer_block, is_server_block, sound_citations

USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


def test_a_whole_block_goes_back() -> None:
    """Additional fields are allowed."""
    assert damage_of({**USE, "caller": {"type": "direct"}}, "assistant") == ""


def test_a_damaged_block_does_not() -> None:
    """The reason names the field."""
    assert "id" in damage_of({**USE, "id": "call_1"}, "assistant")
    assert damage_of(USE, "user") == "it cannot stand in a message of the user"


def test_a_kind_that_we_do_not_know_goes_back_unchanged() -> None:
    """It came from the API; kinds that stand inside others do not."""
    assert is_newer_block({"type": "hologram"}) and not is_newer_block({"type": "hologram_result"})
    assert is_server_block({"type": "mcp_tool_result"})


def test_damaged_citations_are_left_out() -> None:
    """The others stay with their text."""
    place = {"document_index": 0, "document_title": None, "start_char_index": 0, "end_char_index": 1}
    good = {"type": "char_location", "cited_text": "x", **place}

    assert sound_citations([good, {"type": "char_location"}]) == [good]
