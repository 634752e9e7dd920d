"""The screen as a machine: events in, what is shown out."""

from __future__ import annotations

from typing import Any

from turnout.errors import ProviderError
from turnout.model import ModelTurn, Origin, Outcome, Text, Usage
from turnout.session.events import Cancelled, Complete, Discarded, Failed, Nested, Status
from turnout.streaming.events import (
    TextDelta,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
)
from turnout.surfaces.terminal.pieces import FinishedCall, FoldedThought, Notice, Piece, Prose
from turnout.surfaces.terminal.screen import Screen
from turnout.tools.declare.events import ToolProgress, ToolResult, ToolState

ORIGIN = Origin("openai", "", "gpt-5.1")


def answered(text: str = "done", stop: Any = "end") -> Complete:
    return Complete(ModelTurn("k", ORIGIN, (Text(text),), stop=stop), Usage())


def call(id: str, name: str, arguments: str) -> list[Any]:
    return [ToolCallStart(id, name), ToolCallDelta(id, arguments), ToolCallComplete(id)]


def fed(screen: Screen, *events: Any, now: float = 0.0) -> list[Piece]:
    return [piece for event in events for piece in screen.feed(event, now)]


def busy(**settings: Any) -> Screen:
    screen = Screen(**settings)
    screen.begin(0.0)
    return screen


def test_an_answer_is_shown_part_by_part_and_its_tail_moves() -> None:
    """Complete parts are pieces; the rest is in the live view."""
    screen = busy()

    assert fed(screen, TextDelta("One.\n\nTw")) == [Prose("One.")]
    assert screen.live(1.0).tail == (Prose("Tw"),)
    assert fed(screen, TextDelta("o."), answered()) == [Prose("Two.")]
    assert not screen.live(1.0).busy


def test_thinking_is_folded_unless_the_user_unfolds_it() -> None:
    """Thinking is one line with its duration, until the user unfolds it."""
    screen = busy()
    fed(screen, ThinkingDelta("Let me "), ThinkingDelta("see."), now=1.0)
    assert screen.live(2.0).thinking == "Let me see."

    assert fed(screen, ThinkingEnd(), now=4.0) == [FoldedThought("Let me see.", 3.0, open=False)]

    screen.unfolded = True
    assert fed(screen, ThinkingDelta("And?"), TextDelta("So."))[0] == FoldedThought("And?", 0.0, open=True)


def test_parallel_calls_move_together_and_end_in_their_order() -> None:
    """The second call ends first; it is shown for good after the first."""
    screen = busy()
    fed(screen, *call("a", "shell", '{"command":"sleep 1"}'), *call("b", "read_file", '{"path":"x"}'))
    fed(screen, ToolState("a", "shell", "executing"), ToolState("b", "read_file", "executing"))
    fed(screen, ToolProgress("a", output="step 1\nstep 2\n"), ToolProgress("a", fraction=0.5))

    running = screen.live(2.0).calls
    assert [(one.name, one.subject, one.state) for one in running] == [
        ("shell", "sleep 1", "running"),
        ("read_file", "x", "running"),
    ]
    assert running[0].lines == ("step 1", "step 2") and running[0].fraction == 0.5
    assert fed(screen, ToolResult("b", "read_file", Outcome("complete", "1\n2\n3"))) == []
    first, second = fed(screen, ToolResult("a", "shell", Outcome("complete", "ok")), now=3.0)
    assert isinstance(first, FinishedCall) and (first.name, first.lines, first.seconds) == (
        "shell",
        ("ok",),
        3.0,
    )
    assert isinstance(second, FinishedCall) and (second.name, second.lines, second.more) == (
        "read_file",
        (),
        3,
    )


def test_an_edit_is_shown_as_what_changed() -> None:
    """The file is looked at when the arguments are whole, before the tool can have written it."""
    files = {"a.py": "one\ntwo\nthree\n"}
    screen = busy(look=files.get)
    fed(screen, *call("a", "edit_file", '{"path":"a.py","old_text":"two","new_text":"2"}'))
    files["a.py"] = "one\n2\nthree\n"

    (used,) = fed(screen, ToolResult("a", "edit_file", Outcome("complete", "Edited")))

    assert isinstance(used, FinishedCall)
    assert [(line.sign, line.number, line.text) for line in used.change] == [
        (" ", 1, "one"),
        ("-", 2, "two"),
        ("+", 2, "2"),
        (" ", 3, "three"),
    ]


def test_a_reply_that_broke_is_taken_back() -> None:
    """What had been shown for good is said not to count; nothing of it moves any more."""
    screen = busy()
    fed(screen, TextDelta("Half a thou\n\nand"), *call("a", "shell", "{}"))

    (notice,) = fed(screen, Discarded("k"))

    assert isinstance(notice, Notice) and "ignore the part above" in notice.text
    assert screen.live(0.0).tail == () and screen.live(0.0).calls == ()
    assert fed(screen, Discarded("k")) == []


def test_an_interrupted_call_is_shown_as_cancelled() -> None:
    """A call without a result when the run is cancelled is shown as cancelled."""
    screen = busy()
    fed(screen, *call("a", "shell", '{"command":"sleep 9"}'), ToolState("a", "shell", "executing"))

    used, notice = fed(screen, Cancelled())

    assert isinstance(used, FinishedCall) and used.status == "cancelled"
    assert isinstance(notice, Notice) and "is valid" in notice.text


def test_failures_tell_the_way_on() -> None:
    """The message is shown with a hint on what to do."""
    error = ProviderError("no key for openai", kind="auth")

    said, hint = fed(busy(advise=lambda kind: f"{kind}: another model with /model"), Failed(error))

    assert said == Notice("no key for openai", "bad")
    assert isinstance(hint, Notice) and "/model" in hint.text


def test_status_tells_of_retries_and_switches() -> None:
    """Retries are in the live view; a switch of the provider is a notice."""
    screen = busy()
    fed(screen, Status("retrying", "rate_limit, again in 2.0 s"))
    assert "again in 2.0 s" in screen.live(0.0).doing

    (notice,) = fed(
        screen, Status("switched", "overloaded at openai:gpt-5.1", Origin("kimi", "", "kimi-k2.5"))
    )

    assert isinstance(notice, Notice) and notice.text.endswith("→ kimi:kimi-k2.5")


def test_a_subagent_is_told_of_under_its_call() -> None:
    """The call that started a subagent shows what the subagent does."""
    screen = busy()
    fed(screen, *call("a", "task", '{"prompt":"look"}'), ToolState("a", "task", "executing"))
    fed(screen, Nested("a", ToolCallStart("n", "grep")), Nested("a", TextDelta("hidden")))

    assert screen.live(0.0).calls[0].lines == ("1 calls, now grep",)


def test_the_end_of_an_answer_says_when_it_is_not_the_end() -> None:
    """An answer that reached the limit, and an empty one, get a notice."""
    assert "reached the model's limit" in fed(busy(), answered("half", "length"))[0].text  # type: ignore[union-attr]
    assert "is empty" in fed(busy(), answered(""))[0].text  # type: ignore[union-attr]


def test_queued_messages_move_until_they_are_delivered() -> None:
    """Queued prompts are in the live view until they are delivered."""
    screen = busy()
    screen.queued.append("and then?")
    assert screen.live(0.0).queued == ("and then?",)

    fed(screen, Status("queued", "1 delivered"))

    assert screen.live(0.0).queued == ()
