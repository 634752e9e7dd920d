"""What the laws found once, each as the smallest example."""

from __future__ import annotations

import pytest
from tests.build import call, conversation, model, settled, user

from turnout.history.check import violations
from turnout.history.codec import dump_history, load_history
from turnout.history.log import History
from turnout.model import Code, Media, Opaque, Origin, Outcome, Residue, Text, ToolCall
from turnout.targets.request import render, view
from turnout.targets.target import find_target as target
from turnout.wire.check import check

CLAUDE = Origin("anthropic", "", "claude-sonnet-4-5")


def test_no_text_that_enters_keeps_a_lone_surrogate() -> None:
    """Code, provider blocks, file names, tool names and raw ids are cleaned like any other text."""
    history = History("h")
    history.user([Code("\ud800"), Opaque("card", "\0"), Media("image/png", "AAAA", name="\udfff")])
    made = history.reply(CLAUDE, [ToolCall("id\ud800", "tool\ud800")]).tool_calls[0]
    history.settle(made.id, Outcome("complete", (Code("1", output="\ud800"),)))
    assert violations(history) == []
    assert load_history(dump_history(history)).ledger == history.ledger


def test_a_shortened_result_is_cleaned_like_the_result() -> None:
    """The text that stands for a result is cleaned where it enters."""
    history = conversation(user("go"), model(call("a")), settled("a"))
    history.compact(shortened={history.turns[1].tool_calls[0].id: "\ud800"})  # type: ignore[union-attr]
    assert violations(history) == []


@pytest.mark.parametrize("to", ["anthropic:claude-sonnet-4-5", "openai:gpt-4o", "gemini:gemini-2.5-flash"])
def test_a_tool_known_by_two_names_is_declared_once(to: str) -> None:
    """A history that came back from elsewhere may call a tool by the name it was projected to."""
    first = conversation(user("go"), model(call("größe")), settled("größe"))
    projected = view(first, target(to)).transcript.ids.names.project("größe")
    history = conversation(
        user("go"),
        model(call("größe", "1"), call(projected, "2")),
        settled("1"),
        settled("2"),
    )
    assert check(to, render(history, to).body) == []


def test_a_block_that_says_nothing_is_not_sent_to_anthropic() -> None:
    """An unknown block of another API's shape has no words, and an empty text would be refused."""
    blank = Opaque("hologram", residue=Residue(CLAUDE, {"item": {"type": "hologram"}}))
    history = conversation(user("hi", blank), model(blank, origin=str(CLAUDE)), user("so?"))
    assert check("anthropic", render(history, CLAUDE).body) == []


def test_private_state_on_a_picture_in_a_result_goes_to_nobody_else() -> None:
    """Media inside a result loses the residue of another provider, as every block does."""
    picture = Media("image/png", "iVBORw0KGgo=", residue=Residue(CLAUDE, {"detail": "auto"}))
    history = conversation(
        user("go"), model(call("a")), settled("a", Outcome("complete", (Text("see"), picture)))
    )
    shown = view(history, target("openai:gpt-4o")).transcript.messages[-1].responses[0].outcome
    assert all(block.residue is None for block in shown.content)


def test_claude_behind_openrouter_hears_system_text_from_the_user() -> None:
    """Left as a system message it would be moved, and the request would end with the model's words."""
    history = conversation(user("go"), model(call("a")), settled("a"), model("done"))
    history.note_system("mind the gap")
    to = "openrouter:anthropic/claude-sonnet-4.5"
    assert check(to, render(history, to, thinking=True).body) == []


def test_blank_words_do_not_end_an_open_loop_of_calls() -> None:
    """A reply of white space sends nothing, so the calls before it still decide whether to think."""
    history = conversation(user("go"), model(call("a")), settled("a"), model(" "))
    to = "openrouter:anthropic/claude-sonnet-4.5"
    assert check(to, render(history, to, thinking=True).body) == []
