"""Tools that are drawn, and what the status line says of other work."""

from __future__ import annotations

from turnout.model import Outcome, Text
from turnout.surfaces.terminal.calls import CallOnScreen
from turnout.surfaces.terminal.drawing import Drawing, wrap_words
from turnout.surfaces.terminal.status_line import StatusFacts, status_line
from turnout.surfaces.terminal.theme import Theme

STEPS = {
    "items": [{"text": "read", "status": "done"}, {"text": "mend", "status": "in_progress"}, {"text": "test"}]
}


def test_a_list_of_steps_is_drawn_and_not_json() -> None:
    """Each step has a mark; the head says how many are done."""
    call = CallOnScreen("todo", 0.0)
    call.add_raw_arguments('{"items": [{"te')
    assert "{" not in call.running_piece(1.0).subject
    call.set_arguments(STEPS, lambda path: None)
    call.set_outcome(Outcome("complete", (Text("…"),)), 1.0)
    assert call.used is not None
    shown = Drawing(Theme(colour=False)).piece(call.used)
    assert "todo 1 of 3 done" in shown and "{" not in shown
    assert all(line in shown for line in ("[x] read", "[>] mend", "[ ] test"))


def test_a_question_is_shown_as_its_words() -> None:
    """Not as the JSON of its arguments."""
    call = CallOnScreen("ask_user", 0.0)
    call.set_arguments({"question": "Tabs or spaces?", "choices": ["tabs"]}, lambda path: None)
    assert call.running_piece(1.0).subject == "Tabs or spaces?"


def test_the_status_line_says_who_answers_and_what_runs() -> None:
    """After a failover both names are there; background commands are counted."""
    facts = StatusFacts("openai:gpt-5.2", "ask", 10, 100, None, "kimi:kimi-k3", 2)
    line = status_line(facts, 120)
    assert "kimi:kimi-k3 for openai:gpt-5.2" in line and "2 in the background" in line


def test_words_are_broken_only_if_they_are_wider_than_the_line() -> None:
    """Nothing is lost, the indentation stays, and no line is too wide."""
    text = "  The quick brown fox jumps over the lazy dog and finds averyveryverylongwordindeedhere again"
    for width in (20, 40, 80):
        lines = wrap_words(text, width)
        assert " ".join(line.strip() for line in lines).split() == text.split()
        assert all(line.startswith("  ") for line in lines)
        assert all(len(line) <= width or " " not in line.strip() for line in lines)
