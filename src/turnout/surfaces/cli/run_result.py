"""The JSON result of `turnout run`, as a type. `docs/schemas` publishes it as JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ...diagnostic import Diagnostic
from ...errors import TurnoutError
from ...session.events import Discarded, Failed, Nested, SessionEvent, Status
from ...streaming.events import StreamEvent
from ...tools.declare.events import ToolEvent
from ..shared.clean_text import json_line
from ..shared.usage_counts import Tokens

Ending = Literal["complete", "limit", "refused", "failed", "cancelled"]


class Denial(Struct, frozen=True):
    """A tool call that policy refused."""

    tool: str
    call_id: str
    why: str


class Trouble(Struct, frozen=True):
    """Why a run failed."""

    kind: str
    message: str


class RunResult(Struct, frozen=True, kw_only=True, tag="result"):
    """The outcome of one run. `output` is the typed answer if a schema was given."""

    status: Ending
    exit_code: int
    session_id: str
    text: str
    output: Any = None
    turns: int
    usage: dict[str, Tokens]
    cost_usd: float | None
    denials: tuple[Denial, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    error: Trouble | None = None


class SessionOpened(Struct, frozen=True, tag="session"):
    """The first line of `stream-json`: which session answers, and with which model."""

    session_id: str
    model: str


class NestedEvent(Struct, frozen=True, tag="nested"):
    """An event of a subagent, under the call that started it."""

    call_id: str
    event: dict[str, Any]


Line = SessionOpened | StreamEvent | ToolEvent | Status | Discarded | NestedEvent | RunResult
"""One line of `--output-format stream-json`."""


def trouble(error: TurnoutError, hide: Callable[[str], str]) -> Trouble:
    """The error, with secrets redacted that a provider may have quoted."""
    return Trouble(Failed(error).kind, hide(str(error)))


def line(event: SessionEvent | SessionOpened | RunResult) -> str:
    """One event, the opening or the result, as one line of JSON that is safe to print in a terminal."""
    return json_line(json.dumps(_event_json(event), ensure_ascii=False))


def _event_json(event: Any) -> Any:
    if isinstance(event, Nested):
        return {"type": "nested", "call_id": event.call_id, "event": _event_json(event.event)}
    return msgspec.to_builtins(event, enc_hook=str)


def schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema that `docs/schemas` publishes for a type."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(kind)}
