"""Calls that wait for an answer from outside, prompts with a key, and how the log says so: as notes.

A call that is handed out (`external`), or about which a user is asked later (`approval`), stays open in
the log. Its note holds what one needs to answer it, in any process, on any day.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..errors import UsageError
from ..model import Entry, ModelTurn, Note, Outcome, UserTurn
from .log import History

WAITING = "waiting_call"
APPROVED = "approved_call"
PROMPT_KEY = "prompt_key"
PROMPT_CANCELLED = "prompt_cancelled"
UNFINISHED = ("interrupted", "paused", "error")


class WaitingCall(Struct, frozen=True):
    """A call that waits for an answer from outside, with everything that is needed to give one.

    `external`: the caller runs it, and answers with its outcome. `approval`: a user says whether it may
    run; `question` holds the fields of the `ApprovalRequest`. `answered`: the answer is there already,
    and takes effect when a process resumes the session.
    """

    session: str
    call_id: str
    name: str
    arguments: dict[str, Any]
    kind: Literal["external", "approval"] = "external"
    question: dict[str, Any] = {}
    at: float = 0.0
    answered: bool = False


class KnownPrompt(Struct, frozen=True):
    """What came of a prompt that has a key.

    `turns` are the replies to it so far; `is_over`: nothing more will come of it.
    """

    turns: tuple[ModelTurn, ...]
    is_over: bool
    is_cancelled: bool = False


def waiting_call_of(entry: Entry) -> WaitingCall | None:
    """The call that waits from this entry on, if the entry says so."""
    if not isinstance(entry, Note) or entry.kind != WAITING:
        return None
    try:
        return msgspec.convert(entry.data, WaitingCall)
    except msgspec.ValidationError:  # written by another version; the log keeps it
        return None


def waiting_calls(history: History) -> tuple[WaitingCall, ...]:
    """The calls of the open turn that wait for an answer from outside, in the order of their calls."""
    still_open = {item.call.id: None for item in history.open_calls if not item.started}
    if not still_open:
        return ()  # asked after every batch of calls: the notes of a long conversation are not looked through
    approved = approved_calls(history)
    noted = {
        found.call_id: found for entry in history.entries if (found := waiting_call_of(entry)) is not None
    }
    return tuple(noted[each] for each in still_open if each in noted and each not in approved)


def approved_calls(history: History) -> dict[str, dict[str, Any]]:
    """The approvals that were given later, by the id of the call."""
    return {
        entry.data["call_id"]: entry.data
        for entry in history.entries
        if isinstance(entry, Note) and entry.kind == APPROVED and isinstance(entry.data, dict)
    }


def note_waiting(history: History, call: WaitingCall) -> None:
    """Record that a call waits, once."""
    if all(noted.call_id != call.call_id for noted in waiting_calls(history)):
        history.note(WAITING, msgspec.to_builtins(call))


def known_prompt(history: History, key: str) -> KnownPrompt | None:
    """What came of the prompt with this key; None if it was not said yet."""
    turn_key = next(
        (data["turn"] for data in _note_data(history, PROMPT_KEY) if data.get("key") == key), None
    )
    if turn_key is None:
        return None
    cancelled = any(data.get("key") == key for data in _note_data(history, PROMPT_CANCELLED))
    replies: list[ModelTurn] = []
    found = has_next = False
    for turn in history.turns:
        if turn.key == turn_key:
            found = True
        elif found and isinstance(turn, UserTurn):
            has_next = True
            break
        elif found and isinstance(turn, ModelTurn):
            replies.append(turn)
    done = bool(replies) and not replies[-1].tool_calls and replies[-1].stop not in UNFINISHED
    return KnownPrompt(tuple(replies), done or has_next or cancelled or not found, cancelled)


def _note_data(history: History, kind: str) -> Iterator[dict[str, Any]]:
    for entry in history.entries:
        if isinstance(entry, Note) and entry.kind == kind and isinstance(entry.data, dict):
            yield entry.data


def answer_fields(call: WaitingCall, answer: Any) -> dict[str, Any]:
    """The answer to a waiting call as it is stored: its outcome, or whether it is approved.

    `answer` is an `Outcome` or its content; for a call that waits for approval, True, False or a `Decision`.
    """
    if isinstance(answer, Outcome):
        return {"outcome": answer}
    decided = getattr(answer, "answer", None)  # of a Decision
    if call.kind == "external":
        if decided is not None:
            raise UsageError(f"call {call.call_id} is not asked about; answer with its outcome")
        return {"outcome": Outcome("complete", answer, source="tool")}
    if isinstance(answer, bool):
        return {"approved": answer}
    if decided is None:
        raise UsageError(f"call {call.call_id} waits for approval; answer with True, False or a Decision")
    if decided == "edit":
        raise UsageError("arguments cannot be edited later; answer no, and say what to do instead")
    if (answer.call_id, answer.fingerprint) != (call.call_id, call.question.get("fingerprint", "")):
        raise UsageError("the decision is for another call or other arguments; make it from this question")
    return {"approved": decided != "no", "message": answer.message}
