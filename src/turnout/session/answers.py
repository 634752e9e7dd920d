"""Answers to calls that wait: outcomes of external tools, and decisions about approval.

An answer is given in the process that has the session open, or left in the store for the next one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import UsageError
from ..history.log import History
from ..history.waiting import APPROVED, WaitingCall, answer_fields, waiting_calls
from ..model import Outcome
from ..tools.policy.approval import ApprovalRequest, denied_outcome


def answer_call(history: History, call_id: str, answer: Any) -> None:
    """Put the answer to a waiting call on record: its outcome, or that it may run."""
    call = next((each for each in waiting_calls(history) if each.call_id == call_id), None)
    if call is None:
        raise UsageError(f"call {call_id} does not wait for an answer; see `store.waiting_calls()`")
    _apply_answer(history, call, answer_fields(call, answer))


def apply_stored_answers(history: History, answers: dict[str, bytes]) -> None:
    """Apply the answers that were left in the store, by the id of the call."""
    for call in waiting_calls(history):
        if (data := answers.get(call.call_id)) is not None:
            _apply_answer(history, call, msgspec.json.decode(data))


def _apply_answer(history: History, call: WaitingCall, fields: dict[str, Any]) -> None:
    if "outcome" in fields:
        history.settle(call.call_id, msgspec.convert(fields["outcome"], Outcome))
    elif fields["approved"]:
        granted = {"call_id": call.call_id, "fingerprint": call.question.get("fingerprint", "")}
        history.note(APPROVED, granted)
    else:
        message = fields.get("message", "")
        history.settle(call.call_id, denied_outcome(f"They say: {message}" if message else ""))


def approval_request_of(call: WaitingCall) -> ApprovalRequest:
    """The question about a call that waits for approval; its methods make the answer."""
    return msgspec.convert(call.question, ApprovalRequest)
