"""Calls that wait for an answer from outside, with all of their arguments in view."""

from __future__ import annotations

from typing import Any

from ...plain import dumps
from ...store import Store
from ...store.ports import WaitingCall
from ..shared.clean_text import visible


def waiting_values(store: Store) -> dict[str, Any]:
    """What the page shows: every call with all of its arguments."""
    return {"calls": [_call_values(call) for call in store.backend.waiting_calls.list_waiting(None)]}


def _call_values(call: WaitingCall) -> dict[str, Any]:
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
    }
