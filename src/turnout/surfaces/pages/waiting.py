"""Calls that wait for an answer from outside, and the forms that give one.

An approval is bound to the call and to its exact arguments, as in the terminal. A form works once.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import msgspec

from ...errors import UsageError
from ...history.waiting import WaitingCall
from ...model import Outcome
from ...plain import dumps
from ...store import Store
from ...tools.policy.approval import ApprovalRequest
from ..shared.clean_text import visible
from .sign_in import SignIn

LONGEST = 100_000
"""Characters of an answer."""


def waiting_values(store: Store, sign_in: SignIn) -> dict[str, Any]:
    """What the page shows: every call with all of its arguments, and a form."""
    return {"calls": [_call_values(call, sign_in) for call in store.waiting_calls()]}


def _call_values(call: WaitingCall, sign_in: SignIn) -> dict[str, Any]:
    shown = {
        visible(name): visible(value if isinstance(value, str) else dumps(value))
        for name, value in call.arguments.items()
    }
    return {
        "call": call,
        "arguments": shown,
        "why": str(call.question.get("why", "")),
        "risk": str(call.question.get("risk", "")),
        "paths": [visible(str(path)) for path in call.question.get("paths", ())],
        "nonce": sign_in.make_nonce(_purpose(call.session, call.call_id)),
    }


def _purpose(session: str, call_id: str) -> str:
    return f"{session}\0{call_id}"


def answer_from_form(store: Store, sign_in: SignIn, body: bytes) -> None:
    """Give the answer of a form to its call. Raises where the form was used, or the call waits no more."""
    form = {name: values[-1] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
    session, call_id = form.get("session", ""), form.get("call", "")
    if not sign_in.use_nonce(form.get("nonce", ""), _purpose(session, call_id)):
        raise UsageError("this form was used already, or is too old; open /waiting again")
    found = [call for call in store.waiting_calls(session) if call.call_id == call_id]
    if not found:
        raise UsageError(f"call {call_id} does not wait any more; open /waiting again")
    store.answer(session, call_id, _answer_of(found[0], form))


def _answer_of(call: WaitingCall, form: dict[str, str]) -> Any:
    text = form.get("text", "")[:LONGEST]
    if call.kind == "approval":
        if form.get("answer") == "yes":
            return True
        asked = msgspec.convert(call.question, ApprovalRequest)
        return asked.no(text)
    return Outcome("error" if form.get("answer") == "failed" else "complete", text, source="user")
