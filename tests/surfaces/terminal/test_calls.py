"""One tool call on the screen, from its first character to its outcome."""

from __future__ import annotations

from turnout.model import Outcome
from turnout.surfaces.terminal.calls import LIVE_LINES, PREVIEW, CallOnScreen, subject
from turnout.tools.declare.events import ToolProgress, ToolState


def test_a_call_shows_its_arguments_while_they_are_written() -> None:
    """Before the arguments are complete, their raw text is the subject; then the command is."""
    call = CallOnScreen("shell", 0.0)
    call.add_raw_arguments('{"command": "ls')
    assert call.running_piece(1.0).subject == '{"command": "ls'

    call.add_raw_arguments(' -l"}')
    call.finish_arguments(lambda path: None)

    assert call.running_piece(1.0).subject == "ls -l" and call.state == "waiting"


def test_the_time_of_a_call_counts_from_its_start() -> None:
    """Waiting for approval is not part of the time that a call took."""
    call = CallOnScreen("shell", 0.0)
    call.set_state(ToolState("c", "shell", "awaiting_approval"), 1.0)
    assert call.running_piece(5.0).state == "waiting for you"

    call.set_state(ToolState("c", "shell", "executing"), 10.0)
    call.set_outcome(Outcome("complete", "done"), 12.0)

    assert call.used is not None and call.used.seconds == 2.0


def test_output_is_shown_by_its_end_while_it_runs_and_by_its_start_afterwards() -> None:
    """Live output keeps the last lines; the finished call shows the first, and counts the rest."""
    call, lines = CallOnScreen("shell", 0.0), [str(number) for number in range(20)]
    call.add_progress(ToolProgress("c", output="\n".join(lines)))
    assert call.running_piece(1.0).lines == tuple(lines[-LIVE_LINES:])

    call.set_outcome(Outcome("error", "\n".join(lines)), 1.0)

    assert call.used is not None
    assert call.used.lines == tuple(lines[:PREVIEW]) and call.used.more == 20 - PREVIEW


def test_a_change_is_shown_instead_of_the_result() -> None:
    """A tool that wrote a file shows the changed lines; a denied one shows why."""
    arguments = {"path": "a", "content": "new"}
    call = CallOnScreen("write_file", 0.0)
    call.set_arguments(arguments, lambda path: "old")
    call.set_outcome(Outcome("complete", "Wrote a"), 0.0)
    assert call.used is not None and call.used.lines == ()
    assert "".join(line.sign for line in call.used.change) == "-+"

    call.set_outcome(Outcome("denied", "They say: no"), 0.0)

    assert call.used.lines == ("They say: no",) and call.used.change == ()


def test_the_subject_is_what_a_call_is_about() -> None:
    """The command, the path or the files of a patch; else all arguments in one line."""
    assert subject({"command": "ls\nrm x"}) == "ls rm x"
    assert subject({"patch": "*** Update File: a.py\n*** Add File: b.py"}) == "a.py b.py"
    assert subject({"size": 3}) == '{"size":3}' and subject({}) == ""
