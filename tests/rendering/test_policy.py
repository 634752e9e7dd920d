"""What a reader gets to see: of blocks that others wrote, and of results that never came."""

from __future__ import annotations

from typing import Any

import pytest
from tests.rendering.test_media import PNG, written

from turnout.history.ledger import ToolInteraction
from turnout.model import Code, Media, Opaque, Origin, Outcome, Residue, Text, Thinking, ToolCall
from turnout.rendering.policy import (
    EMPTY_ERROR,
    EMPTY_RESULT,
    WORDING,
    Reader,
    Seen,
    is_plain,
    readable_outcome,
    visible,
)

ME, OTHER = Origin("anthropic", "", "claude"), Origin("openai", "", "gpt")
MINE, THEIRS = Residue(ME, {"x": 1}), Residue(OTHER, {"x": 1})
READER = Reader(ME)


@pytest.mark.parametrize(
    ("block", "seen"),
    [
        (Text("hi"), Seen(Text("hi"))),
        (Text("hi", THEIRS), Seen(Text("hi"))),
        (Text("hi", MINE), Seen(Text("hi", MINE))),
        (Text(""), Seen(None)),
        (Text("", THEIRS), Seen(None)),
        (Text("", MINE), Seen(Text("", MINE))),  # its place or its signature matters to who wrote it
        (Thinking("hm", MINE), Seen(Thinking("hm", MINE))),
        (Thinking("hm", THEIRS), Seen(None, "thinking_omitted")),
        (Thinking("hm"), Seen(None, "thinking_omitted")),
        (Code("1+1", "py", "2"), Seen(Text("```py\n1+1\n```\n2"), "code_as_text")),
        (Code("1+1", "py", "2", MINE), Seen(Code("1+1", "py", "2", MINE))),
        (Opaque("search", "", MINE), Seen(Opaque("search", "", MINE))),
        (Opaque("search", "found", THEIRS), Seen(Text("found"), "opaque_as_text", "search")),
        (Opaque("search", " \n", THEIRS), Seen(None, "opaque_omitted", "search")),
        (Text("x", Residue(OTHER, {"citations": [1]})), Seen(Text("x"), "citations_omitted")),
        (Text("x", Residue(OTHER, {"annotations": [1]})), Seen(Text("x"), "citations_omitted")),
        (Text("x", Residue(ME, {"citations": [1]})), Seen(Text("x", Residue(ME, {"citations": [1]})))),
        (ToolCall("hist_tool_a", "a", residue=THEIRS), Seen(ToolCall("hist_tool_a", "a"))),
        (ToolCall("hist_tool_a", "a", residue=MINE), Seen(ToolCall("hist_tool_a", "a", residue=MINE))),
    ],
)
def test_private_state_goes_to_its_issuer_alone(block: Any, seen: Seen) -> None:
    """Everyone else reads what can be put in words; what cannot is named."""
    assert visible(block, READER) == seen


def test_thinking_of_others_may_be_read_as_text() -> None:
    """Where the reader is told so, and only where there is any."""
    reader = Reader(ME, thinking="as_text")
    assert visible(Thinking("hm", THEIRS), reader) == Seen(Text("hm"), "thinking_as_text")
    assert visible(Thinking(" ", THEIRS), reader) == Seen(None, "thinking_omitted")
    assert visible(Thinking("hm", MINE), reader) == Seen(Thinking("hm", MINE))


@pytest.mark.parametrize(
    ("block", "plain"),
    [
        (Text("x"), True),
        (Text(""), False),
        (Text("x", MINE), False),
        (ToolCall("hist_tool_a", "a"), True),
        (ToolCall("hist_tool_a", "a", fault="not_json"), False),
        (ToolCall("hist_tool_a", "a", residue=MINE), False),
        (Thinking("x"), False),
        (Code("x"), False),
        (Media("image/png", "x"), False),
    ],
)
def test_which_blocks_every_reader_sees_alike(block: Any, plain: bool) -> None:
    """Text and calls without residue and without a fault."""
    assert is_plain(block) is plain


# Media


@pytest.mark.parametrize(
    ("media", "mime", "sees"),
    [
        (None, "image/png", True),
        (None, "image/*", True),
        (("image/",), "image/png", True),
        (("image/",), "audio/wav", False),
        (("image/png",), "image/*", True),  # its kind is all that is known of a link
        (("image/png",), "image/gif", False),
        (("application/pdf",), "image/*", False),
        ((), "image/png", False),
    ],
)
def test_what_a_reader_can_see(media: tuple[str, ...] | None, mime: str, sees: bool) -> None:
    """The types of media that the target reads."""
    assert Reader(ME, media=media).sees(Media(mime, uri="https://example.com/x")) is sees


def test_media_that_cannot_be_shown_are_named() -> None:
    """By their type and address, with the reason."""
    blind = Reader(ME, media=())
    picture = Media("image/png", written(PNG), name="a.png")
    assert visible(picture, READER) == Seen(picture)
    assert visible(picture, blind).code == "media_replaced"
    assert visible(picture, blind).block == Text("[image/png a.png] (left out: this model cannot read it)")
    local = visible(Media("image/png", uri="file:///tmp/a.png"), READER)
    assert isinstance(local.block, Text) and "its address is not on the web" in local.block.text
    web = Media("image/png", uri="https://example.com/a.png")
    assert visible(web, READER) == Seen(web)
    looking = Reader(ME, links=r"gs://")
    bucket = Media("image/png", uri="gs://bucket/a.png")
    assert visible(bucket, looking) == Seen(bucket)


def test_a_type_that_was_wrong_is_said() -> None:
    """The diagnostic names both types."""
    assert visible(Media("image/jpeg", written(PNG)), READER) == Seen(
        Media("image/png", written(PNG)), "media_corrected", "image/jpeg is image/png"
    )


# Results


def told(outcome: Outcome, started: bool = False, shortened: str | None = None) -> tuple[Outcome, list[str]]:
    changed: list[Seen] = []
    call = ToolInteraction(ToolCall("hist_tool_a", "a"), "h.1", started)
    return readable_outcome(call, outcome, READER, shortened, changed), [seen.code for seen in changed]


@pytest.mark.parametrize("status", ["complete", "error"])
def test_a_result_that_says_something_is_read_as_it_is(status: Any) -> None:
    """The very same outcome is sent."""
    outcome = Outcome(status, (Text(""), Text("done")))
    assert told(outcome)[0] is outcome


@pytest.mark.parametrize("content", [(), (Text(""),), (Text(" \n"), Text("")), (Opaque("x", "", THEIRS),)])
def test_a_result_is_never_empty(content: Any) -> None:
    """Providers refuse it, and a model cannot tell it from a lost one."""
    assert told(Outcome("complete", content))[0].content == (Text(EMPTY_RESULT),)
    assert told(Outcome("error", content))[0].content == (Text(EMPTY_ERROR),)


def test_a_picture_alone_is_a_result() -> None:
    """No filler is added to it."""
    picture = Media("image/png", written(PNG))
    assert told(Outcome("complete", (picture,)))[0].content == (picture,)


@pytest.mark.parametrize(
    ("outcome", "started", "reason", "lead"),
    [
        (Outcome("interrupted"), True, "stopped", ""),
        (Outcome("interrupted"), False, "unknown", ""),
        (Outcome("interrupted", reason="did_not_run"), True, "did_not_run", ""),
        (Outcome("cancelled"), True, "stopped", "The user cancelled. "),
        (Outcome("cancelled"), False, "unknown", "The user cancelled. "),
        (Outcome("denied"), False, "denied", ""),
        (Outcome("interrupted", reason="nobody knows this word"), False, "nobody knows this word", ""),
    ],
)
def test_what_did_not_happen_is_said_plainly(outcome: Outcome, started: bool, reason: str, lead: str) -> None:
    """Whether it ran is what the reader must know before it tries again."""
    made, _ = told(outcome, started)
    assert made.reason == reason and made.status == outcome.status
    assert made.content == (Text(lead + WORDING.get(reason, WORDING["unknown"])),)


def test_what_a_call_said_before_it_was_stopped_is_kept() -> None:
    """After the words about the stop; blank texts are left out, pictures stay."""
    picture = Media("image/png", written(PNG))
    made, _ = told(Outcome("cancelled", (Text("half"), Text(" "), picture)), started=True)
    assert made.content[1:] == (Text("half"), picture)


def test_a_shortened_result_is_read_short() -> None:
    """The short text takes the place of the content."""
    made, _ = told(Outcome("complete", "all of it"), shortened="a bit")
    assert made.content == (Text("a bit"),) and made.status == "complete"


def test_what_is_changed_in_a_result_is_named() -> None:
    """Private state of others goes, code is written as text, and what is left out has a code."""
    content = (Text("a", THEIRS), Code("1", "py"), Opaque("s", "words", THEIRS), Opaque("t", "", THEIRS))
    made, codes = told(Outcome("complete", content))
    assert made.content == (Text("a"), Text("```py\n1\n```"), Text("words"))
    assert codes == ["opaque_as_text", "opaque_omitted"]
    own = Opaque("s", "", MINE)
    assert told(Outcome("complete", (Text("a"), own)))[0].content == (Text("a"), own)
