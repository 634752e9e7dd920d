"""Calls that wait for an answer from outside, and the forms that give one.

An approval is bound to the call and to its exact arguments, as in the terminal. A form works once.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from markupsafe import Markup

from ...errors import UsageError
from ...history.waiting import WaitingCall
from ...model import Outcome
from ...plain import dumps
from ...store import Store
from ...tools.policy.approval import Decision
from ..shared.clean_text import one_line, visible
from ..shared.conversation_html.markdown import code_html
from .sign_in import SignIn

LONGEST = 100_000
"""Characters of an answer."""


def waiting_values(store: Store, sign_in: SignIn) -> dict[str, Any]:
    """What the page shows: every call with all of its arguments, and a form."""
    return {"calls": [_call_values(call, sign_in) for call in store.waiting_calls()]}


def _call_values(call: WaitingCall, sign_in: SignIn) -> dict[str, Any]:
    shown = {visible(name): _argument_html(value) for name, value in call.arguments.items()}
    return {
        "call": call,
        "arguments": shown,
        "why": visible(str(call.question.get("why", ""))),
        "risk": one_line(str(call.question.get("risk", "")), 40),
        "paths": _paths_of(call),
        "nonce": sign_in.make_nonce(_purpose(call.session, call.call_id)),
    }


def _argument_html(value: Any) -> Markup:
    """All of an argument: a change with its two sides, anything else as it is."""
    return Markup(code_html(visible(value if isinstance(value, str) else dumps(value))))


def _paths_of(call: WaitingCall) -> list[str]:
    paths = call.question.get("paths", ())
    return [visible(str(path)) for path in paths] if isinstance(paths, list | tuple) else []


def _purpose(session: str, call_id: str) -> str:
    return f"{session}\0{call_id}"


def answer_from_form(store: Store, sign_in: SignIn, body: bytes) -> None:
    """Give the answer of a form to its call. Raises where the form was used, or the call waits no more."""
    form = {name: values[-1] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
    purpose = sign_in.use_nonce(form.get("nonce", ""))
    if purpose is None:
        raise UsageError("this form was used already, or is too old; open /waiting again")
    session, _, call_id = purpose.rpartition("\0")
    found = [call for call in store.waiting_calls(session) if call.call_id == call_id]
    if not found:
        raise UsageError(f"call {call_id} does not wait any more; open /waiting again")
    store.answer(session, call_id, _answer_of(found[0], form))


def _answer_of(call: WaitingCall, form: dict[str, str]) -> Any:
    text = form.get("text", "")[:LONGEST]
    if call.kind == "approval":
        if form.get("answer") == "yes":
            return True
        # Bound by hand: a question of another version may lack fields, and no must work for it too.
        return Decision("no", call.call_id, str(call.question.get("fingerprint", "")), text)
    return Outcome("error" if form.get("answer") == "failed" else "complete", text, source="user")
