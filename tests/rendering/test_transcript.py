"""Transcripts: what one target reads of a history, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.build import call, conversation, find, model, settled, shape, user

from turnout.history.log import History
from turnout.model import Media, Message, Origin, Outcome, Residue, Text, Thinking, ToolCall
from turnout.rendering.report import Synthetic
from turnout.rendering.transcript import SUMMARY, Transcript
from turnout.targets.request import reader
from turnout.targets.target import find_target as target


def two_calls() -> History:
    """Turns h.1 (user), h.2 (a), h.3 (user), h.4 (b), h.5 (user)."""
    return conversation(
        user("go"),
        model(call("a")),
        settled("a", "A"),
        user("and"),
        model(call("b")),
        settled("b", "B"),
        user("so"),
    )


def flat(history: History, through: str) -> tuple[Message, ...]:
    return Transcript(history, reader(target("openai:gpt-5.1"), flat_through=through)).messages


@pytest.mark.parametrize(
    ("through", "calls"),
    [
        ("", ["a", "b"]),
        ("h.1", ["a", "b"]),
        ("h.2", ["b"]),  # the named turn is told in words too
        ("h.3", ["b"]),  # the one after it is not
        ("h.4", []),
        ("h.5", []),
        ("nobody", ["a", "b"]),
    ],
)
def test_tool_history_is_told_in_words_through_the_named_turn(through: str, calls: list[str]) -> None:
    """That turn is the last one; what comes after it keeps its calls and results."""
    messages = flat(two_calls(), through)
    assert [item.name for message in messages for item in message.tool_calls] == calls
    assert [item.name for message in messages for item in message.responses] == calls
    words = " ".join(str(block) for message in messages for block in message.blocks)
    assert "A" in words and "B" in words  # nothing is lost either way


def test_a_flat_call_leaves_no_call_to_answer() -> None:
    """What it did is said in the place of the call and its result."""
    assert shape(flat(two_calls(), "h.2"))[:1] == ["user"]
    assert "tool(a)" not in shape(flat(two_calls(), "h.2"))
    assert shape(flat(two_calls(), "h.2"))[-3:] == ["model(b)", "tool(b)", "user"]


# What a transcript holds and says


GPT = Origin.parse("openai:gpt-5.1")


def transcript(history: History, **changes: Any) -> Transcript:
    return Transcript(history, replace(reader(target("openai:gpt-5.1")), **changes))


def test_what_was_rendered_turn_by_turn_is_what_one_render_gives() -> None:
    """Sealed messages stay the same objects; only an open turn is rendered again."""
    history = conversation(user("go"), model(call("a")))
    kept = transcript(history)
    assert shape(kept.messages) == ["user", "model(a)", "tool(a)"]
    assert kept.messages[2].responses[0].outcome.reason == "unknown"
    sealed = list(kept.sealed)
    history.settle(find(history, "a"), Outcome("complete", "A"))
    assert kept.update().messages[2].responses[0].outcome.text == "A"
    history.user("more")
    kept.update()
    assert kept.tail == () and kept.sealed[: len(sealed)] == sealed
    assert kept.messages == transcript(history).messages


def test_a_summary_stands_before_what_is_left() -> None:
    """And a transcript that was kept starts over."""
    history = two_calls()
    kept = transcript(history)
    history.compact("h.3", "We did a.")
    for each in (kept.update(), transcript(history)):
        assert shape(each.messages) == ["user", "model(b)", "tool(b)", "user"]
        assert each.messages[0].blocks == (Text(f"{SUMMARY}We did a."),)


def test_a_response_id_from_before_a_compaction_is_not_sent() -> None:
    """What the provider keeps of it is the conversation as it was; the turns after it keep theirs."""
    history = History("h")
    history.user("one")
    for number in (1, 2):
        history.reply(GPT, "x", residue=Residue(GPT, {"response_id": f"r{number}"}))
        history.user("more")
    history.compact("h.1", "short")
    history.reply(GPT, "y", residue=Residue(GPT, {"response_id": "r3"}))
    residues = [message.residue for message in transcript(history).messages if message.role == "model"]
    assert [residue.data if residue else None for residue in residues] == [None, None, {"response_id": "r3"}]


@pytest.mark.parametrize(
    ("stop", "origin", "paused"), [("paused", GPT, True), ("end", GPT, False), ("paused", "x:y", False)]
)
def test_only_the_model_that_paused_goes_on(stop: Any, origin: Any, paused: bool) -> None:
    """ANT-30: for every other the turn is over."""
    history = conversation(user("go"))
    history.reply(origin, "hm", stop=stop)
    assert transcript(history).messages[-1].paused is paused


def test_arguments_that_could_not_be_read_are_shown_as_they_were_run() -> None:
    """Where the scheduler put them right; where they could be read, those of the model stand."""
    history = History("h")
    history.user("go")
    history.reply(GPT, [ToolCall("1", "a", {}, raw="{oops", fault="not_json"), ToolCall("2", "b", {"p": 1})])
    history.start(find(history, "1"), {"p": "mended"})
    history.start(find(history, "2"), {"p": 2})
    shown = transcript(history).messages[1].tool_calls
    assert [call.arguments for call in shown] == [{"p": "mended"}, {"p": 1}]


def test_an_empty_text_stays_only_between_two_thoughts_of_the_reader() -> None:
    """Anthropic counts the places of signed thoughts."""
    mine = Thinking("hm", Residue(GPT, {"signature": "s"}))
    theirs = Thinking("hm", Residue(Origin.parse("x:y"), {"signature": "s"}))

    def seen(*blocks: Any) -> list[str]:
        history = conversation(user("go"))
        history.reply(GPT, [*blocks, Text("end")])
        return [type(block).__name__ for block in transcript(history).messages[-1].blocks]

    assert seen(mine, Text(""), mine) == ["Thinking", "Text", "Thinking", "Text"]
    assert seen(mine, Text(""), theirs) == ["Thinking", "Text"]
    assert seen(theirs, Text(""), mine) == ["Thinking", "Text"]
    assert seen(mine, Text("")) == ["Thinking", "Text"]
    assert seen(Text(""), mine, mine) == ["Thinking", "Thinking", "Text"]
    assert seen(mine, Text(""), Text("x"), mine) == ["Thinking", "Text", "Thinking", "Text"]


def test_the_report_names_what_was_made_up_shortened_or_left_out() -> None:
    """And nothing else: a result that came is not in it."""
    history = conversation(
        user("go"),
        model(Thinking("hm"), call("a"), call("b"), call("c")),
        settled("a", "A"),
        settled("b", "B" * 99),
        user("so"),
    )
    a, b, c = (find(history, name) for name in "abc")
    history.compact(shortened={b: "B…"})
    report = transcript(history).report
    assert [(item.code, item.call_id) for item in report.diagnostics] == [
        ("thinking_omitted", ""),
        ("shortened_result", b),
        ("synthetic_result", c),
    ]
    assert report.synthetic == (Synthetic(c, "interrupted", "unknown"),)
    assert report.seen == (a, b, c)
    assert [each.call_id for each in report.calls] == [each.call_id for each in report.results] == [a, b, c]


def test_a_turn_that_says_nothing_to_this_reader_is_named() -> None:
    """A diagnostic names the turn that was left out."""
    history = conversation(user("go"), model(Thinking("hm")), user("so"))
    made = transcript(history)
    assert shape(made.messages) == ["user", "user"]
    assert [item.code for item in made.report.diagnostics] == ["thinking_omitted", "empty_turn"]


def test_a_reader_that_knows_no_tools_is_told_in_words() -> None:
    """Nothing is left to pair, and pictures come along."""
    picture = Media("image/png", "iVBORw0KGgo=")
    history = conversation(
        user("go"),
        model("I look.", call("a", path="x")),
        settled("a", Outcome("complete", (Text("A"), picture))),
    )
    messages = transcript(history, knows_tools=False).messages
    assert [message.role for message in messages] == ["user", "model", "user"]
    assert messages[1].blocks == (Text("I look."), Text('[I called a({"path":"x"})]'))
    assert messages[2].blocks == (Text("[a gave] A"), picture)


def test_a_native_id_is_given_back_to_who_gave_it() -> None:
    """To nobody else, and only where the reader wants it."""
    history = conversation(
        user("go"), model(call("a", "own-1"), origin="gemini:gemini-3-pro"), settled("own-1")
    )
    own = Transcript(history, reader(target("gemini:gemini-3-pro")))
    other = Transcript(history, reader(target("gemini:gemini-2.5-pro")))
    id = find(history, "own-1")
    assert own.ids[id] == "own-1" and other.ids[id] != "own-1" and transcript(history).ids[id] != "own-1"
