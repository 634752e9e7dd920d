"""The values of a conversation: origins, blocks, outcomes, and who may read private state."""

from __future__ import annotations

from typing import Any

import pytest

from turnout.errors import UsageError
from turnout.model import (
    Media,
    ModelTurn,
    Origin,
    Outcome,
    Residue,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    block_text,
    blocks_of,
    clean_block,
    with_fields,
)

SONNET = Origin("anthropic", "", "claude-sonnet-4-5")


def test_an_origin_is_read_and_written_as_one_text() -> None:
    """`provider:model`, or `provider@endpoint:model`."""
    assert Origin.parse("openai@work:gpt-5.1") == Origin("openai", "work", "gpt-5.1")
    assert str(Origin.parse("openai@work:gpt-5.1")) == "openai@work:gpt-5.1"
    with pytest.raises(UsageError, match="write it as 'provider:model'"):
        Origin.parse(" ")


@pytest.mark.parametrize(
    ("scope", "reader", "may"),
    [
        ("model", SONNET, True),
        ("model", Origin("anthropic", "", "claude-opus-4-1"), False),
        ("account", Origin("anthropic", "", "claude-opus-4-1"), True),
        ("account", Origin("anthropic", "work", "claude-opus-4-1"), False),
        ("provider", Origin("anthropic", "work", "claude-opus-4-1"), True),
        ("provider", Origin("openai", "", "gpt-5.1"), False),
    ],
)
def test_private_state_goes_to_its_scope_only(scope: Any, reader: Origin, may: bool) -> None:
    """To the model, the account or the provider that it belongs to."""
    assert Residue(SONNET, {}, scope).may_go_to(reader) is may


def test_the_arguments_of_a_call_are_a_copy() -> None:
    """A caller that changes its object later changes nothing in the history."""
    given = {"paths": ["a"]}
    call = ToolCall("x", "read", given)
    given["paths"].append("b")
    assert call.arguments == {"paths": ["a"]}
    assert with_fields(call, id="y").arguments is call.arguments


def test_an_outcome_takes_text_values_and_blocks() -> None:
    """A value becomes JSON text; calls and thinking are refused."""
    assert Outcome("complete", "a\0").content == (Text("a\ufffd"),)
    assert Outcome("complete", {"a": 1}).text == '{"a":1}'
    assert Outcome("complete", (Text("a"), Media("image/png", "x"))).text == "a"
    with pytest.raises(UsageError, match="cannot hold calls or thinking"):
        Outcome("complete", (Thinking("a"),))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is not an outcome status; use one of complete"):
        Outcome("fine")  # type: ignore[arg-type]


def test_text_is_cleaned_of_what_servers_refuse() -> None:
    """Lone surrogates and NUL are replaced; a clean block stays the same object."""
    assert clean_block(Text("a\ud800")) == Text("a\ufffd")
    clean = Text("a")
    assert clean_block(clean) is clean


def test_a_turn_has_its_text_thinking_and_calls() -> None:
    """Each in order, from its blocks."""
    turn = ModelTurn("k", SONNET, (Thinking("hm"), Text("a"), ToolCall("x", "read"), Text("b")))
    assert (turn.thinking, turn.text, [call.name for call in turn.tool_calls]) == ("hm", "ab", ["read"])


def test_blocks_are_given_as_texts_and_blocks() -> None:
    """Anything else is refused with the types that exist."""
    assert blocks_of(["a", Thinking("b")]) == (Text("a"), Thinking("b"))
    assert block_text(ToolCall("x", "read", {"path": "a"})) == 'read({"path":"a"})'
    with pytest.raises(UsageError, match="use Text, Thinking"):
        blocks_of([7])  # type: ignore[list-item]


def test_one_declaration_is_one_spec() -> None:
    """Several tools in one declaration belong in a list."""
    assert ToolSpec.of({"name": "read"}).name == "read"
    with pytest.raises(UsageError, match="give it in a list of tools"):
        ToolSpec.of({"functionDeclarations": [{"name": "a"}, {"name": "b"}]})
