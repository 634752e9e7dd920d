"""What encoders ask before they write: how the tool loop stands, what an API takes, which tools it gets."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, model, settled, user

from turnout import render
from turnout.errors import UsageError
from turnout.ids import FORMATS, IdProjection
from turnout.model import Message, Origin, Outcome, Residue, Text, ToolCall, ToolResponse, ToolSpec
from turnout.wire.options import Options
from turnout.wire.shared import limits
from turnout.wire.shared.content import response_text
from turnout.wire.shared.offered_tools import Offer, offered_tools
from turnout.wire.shared.open_loop import Loop

# The loop that a request ends in

MODEL = Origin("anthropic", "", "claude")
CALLS = Message("model", (ToolCall("hist_tool_a", "a"),), MODEL)
WORDS = Message("model", (Text("done"),), MODEL)
RESULT = Message("tool", (ToolResponse("hist_tool_a", "a", Outcome("complete", "x")),))
USER = Message("user", (Text("and"),))


def after(*steps: Message | tuple[Message, bool]) -> Loop:
    """Each message, and whether it began with a thought."""
    loop = Loop()
    for step in steps:
        message, thinks = step if isinstance(step, tuple) else (step, False)
        loop = loop.after(message, thinks)
    return loop


@pytest.mark.parametrize(
    ("steps", "is_open", "thinks"),
    [
        ([], False, True),
        ([USER], False, True),
        ([USER, WORDS], False, True),
        ([USER, (CALLS, True)], True, True),
        ([USER, (CALLS, False)], True, False),
        ([USER, (CALLS, True), RESULT], True, True),
        ([USER, (CALLS, True), RESULT, (CALLS, False)], True, True),  # the message that opened it counts
        ([USER, (CALLS, False), RESULT, (CALLS, True)], True, False),
        ([USER, (CALLS, True), RESULT, USER, (CALLS, False)], True, False),  # the user opened it again
        ([USER, (CALLS, True), RESULT, USER, (CALLS, True)], True, True),
        ([USER, (CALLS, False), RESULT, USER, (CALLS, True)], True, False),  # it began without
        ([USER, (CALLS, True), RESULT, USER, RESULT, (CALLS, False)], True, False),  # spoken stays spoken
        ([USER, (CALLS, False), RESULT, WORDS], False, True),  # words end it
        ([USER, (CALLS, False), RESULT, WORDS, USER, (CALLS, True)], True, True),
    ],
)
def test_a_loop_is_judged_by_the_messages_that_opened_it(steps: Any, is_open: bool, thinks: bool) -> None:
    """ANT-16: whether thinking may be on depends on how the open run of calls began."""
    loop = after(*steps)
    assert (loop.open, loop.thinks) == (is_open, thinks)


def test_only_words_can_pause() -> None:
    """A turn with calls is not paused."""
    assert after(USER, Message("model", (Text("hm"),), MODEL, paused=True)).paused
    assert not after(USER, WORDS).paused


# What an API takes


@pytest.mark.parametrize(("wanted", "sent"), [(None, None), (0.0, 0.0), (2.0, 2.0), (2.1, 2.0)])
def test_a_temperature_is_at_most_what_the_api_takes(wanted: float | None, sent: float | None) -> None:
    """A higher one is lowered, and the report says so."""
    changes: list[str] = []
    assert limits.temperature(Options(temperature=wanted), changes) == sent
    assert changes == ([] if wanted == sent else ["temperature 2.1 sent as 2.0: this API takes 0 to 2.0"])


@pytest.mark.parametrize(("count", "most", "kept"), [(4, 4, 4), (5, 4, 4), (3, None, 3), (0, 4, 0)])
def test_stop_words_beyond_what_is_taken_are_named(count: int, most: int | None, kept: int) -> None:
    """The report says how many were left out."""
    changes: list[str] = []
    words = tuple(f"w{at}" for at in range(count))
    assert limits.stop_words(Options(stop=words), most, changes) == list(words[:kept])
    assert changes == ([] if kept == count else ["1 of 5 stop words left out: 4 are taken"])


@pytest.mark.parametrize(
    ("tier", "offered", "sent", "why"),
    [
        (None, ["flex"], "", None),
        ("flex", ["auto", "flex"], "flex", None),
        ("fast", ["auto", "flex"], "", "service_tier fast left out: this API knows auto, flex"),
        ("fast", [], "", "service_tier fast left out: this API has no tiers"),
    ],
)
def test_a_tier_that_an_api_does_not_have_is_named(
    tier: Any, offered: list[str], sent: str, why: Any
) -> None:
    """It is left out, and the report says so."""
    changes: list[str] = []
    assert limits.service_tier(Options(service_tier=tier), offered, changes) == sent
    assert changes == ([why] if why else [])


# Which tools are offered


def offer(count: int, *called: str, limit: int = 4, **options: Any) -> tuple[Offer, list[str]]:
    changes: list[str] = []
    tools = [ToolSpec(f"t{at}") for at in range(count)]
    ids = IdProjection(FORMATS["openai"])
    return offered_tools(tools, called, Options(**options), ids, changes, limit), changes


def names(made: Offer) -> list[str]:
    return [tool.name for tool in made.tools]


def test_as_many_tools_as_are_taken_are_all_offered() -> None:
    """One more, and the last that was not called goes."""
    assert offer(4)[1] == []
    made, changes = offer(5)
    assert names(made) == ["t0", "t1", "t2", "t3"]
    assert changes == ["tools left out, since this API takes 4 (OAC-06): t4"]
    assert names(offer(6, "t5")[0]) == ["t0", "t1", "t2", "t5"]
    assert names(offer(6, "t5", "t4", tool_choice="t3")[0]) == ["t0", "t3", "t4", "t5"]


def test_tools_that_only_the_history_knows_are_declared_as_long_as_there_is_room() -> None:
    """Each once, and named."""
    made, changes = offer(2, "old", "old", "t1", "older", "oldest")
    assert names(made) == ["t0", "t1", "old", "older"]
    assert changes == ["stub declarations for tools that only the history knows: old, older"]
    assert names(offer(4, "old")[0]) == ["t0", "t1", "t2", "t3"]
    assert names(offer(3, "old", "older")[0]) == ["t0", "t1", "t2", "old"]


def test_a_stub_is_never_to_be_called() -> None:
    """A request with stubs only has tool_choice none."""
    assert offer(0, "old")[0].choice == "none" and offer(0)[0].choice == ""
    assert offer(1, "old", tool_choice="required")[0].choice == "required"
    with pytest.raises(UsageError, match="needs tools"):
        offer(0, tool_choice="required")
    with pytest.raises(UsageError, match="which is not among the tools"):
        offer(1, tool_choice="old")


def test_a_tool_is_given_once_unless_it_is_the_providers_own() -> None:
    """Which may have no name to be called by."""
    ids = IdProjection(FORMATS["openai"])
    declared = Residue(Origin("openai"), {"declaration": {"type": "web_search"}})
    own = ToolSpec("web_search", kind="web_search", residue=declared)
    twice = [own, own, ToolSpec("a")]
    assert len(offered_tools(twice, (), Options(), ids, []).tools) == 3
    with pytest.raises(UsageError, match="'a' is given twice"):
        offered_tools([own, ToolSpec("a"), ToolSpec("a")], (), Options(), ids, [])


# Words of a result


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        ("error", "no such file", "Error: no such file"),
        ("error", "Error: no such file", "Error: no such file"),
        ("error", "x" * 35 + "error", "x" * 35 + "error"),  # within the first forty characters
        ("error", "x" * 36 + "error", "Error: " + "x" * 36 + "error"),
        ("complete", "done", "done"),
        ("cancelled", "stopped", "stopped"),
        ("complete", " ", "[see the attached media]"),
    ],
)
def test_an_error_is_marked_once(status: Any, text: str, said: str) -> None:
    """For APIs that have no flag for it."""
    response = ToolResponse("hist_tool_a", "a", Outcome(status, text))
    assert response_text(response, marks_errors=True) == said


def test_texts_of_a_result_stand_on_lines_of_their_own() -> None:
    """Several texts are joined by line breaks."""
    outcome = Outcome("complete", (Text("one"), Text(""), Text("two")))
    assert response_text(ToolResponse("hist_tool_a", "a", outcome)) == "one\ntwo"


# Calls come last for Anthropic


def test_calls_of_others_come_last_for_anthropic() -> None:
    """Text after a call is refused in turns that Claude did not write; Claude's own stay as they are."""

    def kinds(origin: str) -> list[str]:
        history = conversation(
            user("go"), model("a", call("x"), "b", call("y"), "c", origin=origin), settled("x"), settled("y")
        )
        content = render(history, "anthropic:claude-sonnet-4-5").json["messages"][1]["content"]
        return [block.get("text") or block["name"] for block in content]

    assert kinds("openai:gpt-5.1") == ["a", "b", "c", "x", "y"]
    assert kinds("anthropic:claude-opus-4-1") == ["a", "x", "b", "y", "c"]
