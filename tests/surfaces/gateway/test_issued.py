"""State on its way to a client and back: a reply is again the turn that it was."""

from __future__ import annotations

import pytest

from turnout import ids
from turnout.history.ingest import ingest
from turnout.model import ModelTurn, Origin, Residue, Text, Thinking, ToolCall
from turnout.surfaces.gateway import issued
from turnout.surfaces.gateway.sealing import Sealer

SEALER = Sealer(b"1" * 32)
CLAUDE, ASKED = Origin("anthropic", "", "claude-sonnet-4-5"), Origin("openai", "", "alias")
ID = ids.call_id("anthropic", "toolu_1", "look", "k.2", 0)
SIGNED = Residue(CLAUDE, {"signature": "abc"})
TURN = ModelTurn(
    "k.2", CLAUDE, (Thinking("hm", SIGNED), Text("I look."), ToolCall(ID, "look", {}, "toolu_1"))
)


def carried(protocol: str, turn: ModelTurn) -> tuple[issued.ReplyCarrier, dict[int, str | None]]:
    carrier = issued.ReplyCarrier(protocol, SEALER)
    carrier.origin = turn.origin
    return carrier, {at: carrier.carry(block) for at, block in enumerate(turn.blocks)}


def restored(turn: ModelTurn, states: dict[str, bytes] | None = None) -> ModelTurn:
    return issued.IssuedState(SEALER, (states or {}).get).restored_turn(turn)


def test_a_signature_carries_thinking() -> None:
    """Anthropic's clients send it back; nothing else need be remembered."""
    carrier, tokens = carried("anthropic", TURN)
    assert carrier.left_over(TURN) is None
    back = Thinking("hm", Residue(ASKED, {"signature": tokens[0]}))
    assert restored(ModelTurn("k.2", ASKED, (back, *TURN.blocks[1:]))) == TURN


def test_the_first_call_of_gemini_carries_the_thinking_before_it() -> None:
    """Gemini's clients leave out thoughts, so they ride on the call."""
    turn = ModelTurn("k.2", CLAUDE, (Thinking("hm", SIGNED), ToolCall(ID, "look", {})))
    carrier, tokens = carried("gemini", turn)
    assert tokens[0] is None and carrier.left_over(turn) is None
    back = ToolCall(ID, "look", {}, residue=Residue(ASKED, {"thought_signature": tokens[1]}))
    assert restored(ModelTurn("k.2", ASKED, (back,))) == turn


def test_chat_clients_carry_nothing_so_it_is_remembered() -> None:
    """What comes back is the words and the calls; the rest is merged in its places."""
    carrier, _ = carried("chat", TURN)
    state = carrier.left_over(TURN)
    assert state is not None
    memory = {issued.fingerprint(TURN): issued.pack_state(state)}
    back = ModelTurn("k.2", ASKED, (Text("I look."), ToolCall(ID, "look", {}, ID)))
    assert restored(back, memory) == TURN


def test_the_same_words_at_another_place_are_another_reply() -> None:
    """A text is named by its place too; calls have names of their own."""
    first, second = (ModelTurn(key, CLAUDE, (Text("ok"),)) for key in ("k.2", "k.4"))
    assert issued.fingerprint(first) != issued.fingerprint(second)
    moved = ModelTurn("k.9", CLAUDE, TURN.blocks)
    assert issued.fingerprint(moved) == issued.fingerprint(TURN)


def test_ids_of_our_items_are_taken_out() -> None:
    """OpenAI has never seen them; its own ids stay."""
    own, theirs = "msg_" + "a" * 24, "msg_" + "a" * 48
    texts = tuple(Text(id, Residue(ASKED, {"id": id})) for id in (own, theirs))
    turn = ModelTurn("k", ASKED, texts)
    first, second = restored(turn).blocks
    assert first.residue is None and second.residue is not None


@pytest.mark.parametrize("given", [{ID}, [ID], {"x1": ID}])
def test_ingest_keeps_ids_that_were_given_out(given: object) -> None:
    """As a collection of ids, or as a mapping of ids to canonical ones."""
    raw = "x1" if isinstance(given, dict) else ID
    call = {"id": raw, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": raw, "content": "seen"},
    ]
    history = ingest(messages, issued=given)
    assert [item.call.id for item in history.ledger] == [ID] and not history.diagnostics
