"""Residue goes back only if it is valid."""

from __future__ import annotations

from typing import Any

from turnout.model import Origin, Residue
from turnout.wire.shared import residues

HOME = Origin("openai-responses", "", "gpt-5.1")


def residue(**data: Any) -> Residue:
    return Residue(HOME, data)


def test_a_signature_is_base64() -> None:
    """GEM-10: anything else is left out and named."""
    changes: list[str] = []

    assert residues.thought_signature(residue(thought_signature="c2ln"), changes) == "c2ln"
    assert residues.thought_signature(residue(thought_signature="not base64!"), changes) == ""
    assert len(changes) == 1


def test_reasoning_goes_back_with_its_encrypted_content_only() -> None:
    """OAR-08: its id stays here."""
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"}
    changes: list[str] = []

    sent = residues.reasoning_item(residue(item=item), changes)
    assert sent == {"type": "reasoning", "summary": [], "encrypted_content": "c2ln"}
    assert residues.reasoning_item(residue(item={"type": "reasoning"}), changes) is None


def test_damaged_details_of_reasoning_are_left_out() -> None:
    """ORT-02: the valid ones stay."""
    good = {"type": "reasoning.text", "text": "Hm."}
    changes: list[str] = []

    assert residues.reasoning_details(residue(reasoning_details=[good, {"text": "?"}]), changes) == [good]
    assert changes[0].startswith("ORT-02")


def test_a_file_takes_the_form_of_the_other_api_of_its_account() -> None:
    """A file of Chat is an input_file of Responses, and the other way round."""
    sent_to_chat = residue(part={"type": "file", "file": {"file_id": "file-1"}})
    sent_to_responses = residue(part={"type": "input_file", "file_id": "file-1"})

    assert residues.responses_part(sent_to_chat) == {"type": "input_file", "file_id": "file-1"}
    assert residues.chat_part(sent_to_responses) == {"type": "file", "file": {"file_id": "file-1"}}
