"""What a script says is what a reader hears, in every provider's own words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from tests.corpus import SOAK
from tests.simulate.targets import HIDES_THINKING, TARGETS, calls, heard, sent

from turnout.model import Code, Opaque, Thinking, Usage
from turnout.simulate.script import ODDITIES, Ends, Reply, step
from turnout.wire.shared.reply import Call, Hosted, Say, Think

words = some.text(
    some.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=60
)
values = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**53), 2**53) | words,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
made_calls = some.builds(
    Call, some.from_regex(r"[a-z][a-z_]{0,20}", fullmatch=True), some.dictionaries(words, values, max_size=3)
)
replies = some.builds(
    lambda thinking, text, made: step([*thinking, *text, *made]),
    some.lists(some.builds(Think, words), max_size=2),
    some.lists(some.builds(Say, words), max_size=2),
    some.lists(made_calls, max_size=4),
)

SAID = step(
    [Think("Both at once."), Say("I will look at both."), Call("read", {"path": "a.txt"}), Call("time")]
)


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=200 if SOAK else 12, deadline=None)
@given(reply=replies)
def test_what_the_script_says_is_what_is_heard(name: str, streamed: bool, reply: Reply) -> None:
    """Text, thinking, calls with their arguments and the reason for stopping survive the wire."""
    turn = heard(name, reply, streamed=streamed)

    assert turn.text == reply.text
    assert turn.thinking == ("" if name in HIDES_THINKING else reply.thinking)
    assert calls(turn) == calls(reply)
    assert turn.stop == reply.ends


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@settings(max_examples=100 if SOAK else 12, deadline=None)
@given(reply=replies)
def test_ollama_says_it_in_lines_of_its_own(streamed: bool, reply: Reply) -> None:
    """Ollama's native API: JSON lines, calls whole, arguments as objects."""
    turn = heard("ollama:qwen3", reply, streamed=streamed, protocol="ollama")

    assert (turn.text, turn.thinking, calls(turn)) == (reply.text, reply.thinking, calls(reply))


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("name", TARGETS)
def test_tokens_are_counted_as_the_script_counts_them(name: str, streamed: bool) -> None:
    """Every count arrives for which the wire has a place."""
    usage = Usage(120, 30, 150, 64, None, 7)

    turn = heard(name, step([Say("hi"), usage]), streamed=streamed)

    without_total = {name for name, protocol in TARGETS.items() if protocol in WITHOUT_TOTAL}
    assert turn.usage is not None
    places = {"ollama": 2, "cohere": 3, "converse": 3}.get(
        TARGETS[name], 4
    )  # how many of the counts the wire has
    counts = (turn.usage.input, turn.usage.output, turn.usage.cached_input, turn.usage.reasoning)
    assert counts[:places] == (120, 30, 64, 7)[:places] and not any(counts[places:])
    assert turn.usage.total == (None if name in without_total else 150)


WITHOUT_TOTAL = ("anthropic", "ollama", "cohere", "invoke")


@pytest.mark.parametrize("name", [name for name in TARGETS if TARGETS[name] != "ollama"])
def test_a_reply_can_end_early_or_be_refused(name: str) -> None:
    """Each provider has its own word for a limit and for a refusal, but for Ollama, which refuses nothing."""
    assert heard(name, step([Say("Once"), Ends("length")]), streamed=True).stop == "length"
    assert heard(name, step([Say("No."), Ends("refused")]), streamed=True).stop == "refused"


def test_only_anthropic_can_pause() -> None:
    """A turn that waits for a server tool is paused; no other wire has a word for that."""
    assert (
        heard("anthropic:claude-sonnet-4-5", step([Say("…"), Ends("paused")]), streamed=True).stop == "paused"
    )
    with pytest.raises(ValueError, match="no word for"):
        sent("openai:gpt-4o", step([Say("…"), Ends("paused")]), streamed=True)


@pytest.mark.parametrize("name", ["anthropic:claude-sonnet-4-5", "openai-responses:gpt-5.1"])
def test_hidden_thinking_has_no_text_but_something_to_give_back(name: str) -> None:
    """Redacted thinking and encrypted reasoning arrive as state without words."""
    turn = heard(name, step([Think("secret", hidden=True), Say("Done.")]), streamed=True)

    thoughts = [block for block in turn.blocks if isinstance(block, Thinking)]
    assert [thought.text for thought in thoughts] == [""]
    assert thoughts[0].residue is not None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("anthropic:claude-sonnet-4-5", Opaque),
        ("openai-responses:gpt-5.1", Opaque),
        ("gemini:gemini-2.5-pro", Code),
        ("groq:compound", Opaque),
    ],
)
def test_tools_that_the_provider_ran_arrive_as_its_own(name: str, kind: type) -> None:
    """What the provider ran itself is no call of ours."""
    form = TARGETS.get(name, "chat")
    turn = heard(name, step([Hosted(result="42 results"), Say("Found it.")]), streamed=True, protocol=form)

    assert any(isinstance(block, kind) for block in turn.blocks)
    assert turn.tool_calls == () and turn.text == "Found it."


CHAT_WAYS = [
    "no_index",
    "index_0",
    "name_repeated",
    "whole_calls",
    "arguments_object",
    "stop_for_calls",
    "no_done",
    "no_usage",
    "null_delta",
]
SSE_WAYS = ["crlf", "cr", "bom", "comments", "no_space", "two_lines", "no_last_line", "padding"]
OTHER_WAYS = {
    "anthropic:claude-sonnet-4-5": ["input_at_start", "no_block_stop"],
    "openai-responses:gpt-5.1": ["no_deltas", "items_only", "rotating_ids", "completed_twice"],
    "gemini:gemini-3-pro-preview": ["one_chunk", "repeated_call"],
    "copilot:claude-sonnet-4": ["two_choices"],
    "ollama:qwen3": ["think_tags"],
}
ODD = [
    *[(name, way) for name in TARGETS if TARGETS[name] == "chat" for way in CHAT_WAYS],
    *[(name, way) for name in ("openai:gpt-4o", *OTHER_WAYS) for way in SSE_WAYS],
    *[(name, way) for name, ways in OTHER_WAYS.items() for way in ways],
]


def test_every_oddity_is_tried() -> None:
    """The list of oddities and the tests of them are the same."""
    assert {way for _, way in ODD} == set(ODDITIES)


@pytest.mark.parametrize(("name", "way"), ODD)
def test_an_odd_stream_says_the_same(name: str, way: str) -> None:
    """However a server writes it, the reply is the same."""
    turn = heard(name, Reply(SAID.parts, odd=(way,)), streamed=True)

    assert turn.text == SAID.text
    assert turn.thinking == ("" if name in HIDES_THINKING and way != "think_tags" else SAID.thinking)
    assert calls(turn) == calls(SAID)
    assert turn.stop == "tool_calls"


@pytest.mark.parametrize("name", TARGETS)
def test_the_same_script_gives_the_same_bytes(name: str) -> None:
    """No clock and no chance: ids and signatures follow from the seed."""
    assert sent(name, SAID, streamed=True) == sent(name, SAID, streamed=True)
