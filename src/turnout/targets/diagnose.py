"""Which layer is at fault: the canonical state, the rendering of it, or its projection to the wire.

Rendering is deterministic, so the question can be asked after a refusal. The three checkers
were written independently of the code that they check. The first layer with a fault is named,
because the layers above are built on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from ..diagnostic import Diagnostic
from ..errors import UsageError
from ..history import check as history_check
from ..history.log import History
from ..model import Origin
from ..plain import loads
from ..rendering import check as render_check
from ..rendering.report import Report
from ..rendering.transcript import Transcript
from ..wire.check import Problem
from ..wire.check import check as wire_check
from ..wire.request import WireRequest
from .request import TargetView, render, view
from .target import Target, find_target

Fault: TypeAlias = Diagnostic | Problem
Body: TypeAlias = Mapping[str, Any] | str | bytes | WireRequest


class Diagnosis(Struct, frozen=True):
    """The layer that is at fault (None: no fault was found), and what is wrong."""

    layer: Literal["history", "render", "wire"] | None
    problems: tuple[Fault, ...] = ()
    report: Report | None = None  # None where the render itself broke
    warnings: tuple[Problem, ...] = ()  # what only some servers refuse: no layer is at fault for it


def diagnose(
    history: History, target: str | Origin | Target, body: Body | None = None, *, model: str | None = None
) -> Diagnosis:
    """Check a history, its transcript for `target`, and the request: the one given, or a fresh one.

    A body is enough; with a rendered request its headers are judged too. `model` is for bodies
    that do not name theirs. Never writes to the history.
    """
    place = find_target(target)
    if faults := history_check.violations(history):
        return Diagnosis("history", tuple(faults), _report(history, place))
    if faults := list(_render_faults(history, place)):
        return Diagnosis("render", tuple(faults), _report(history, place))
    found = tuple(_wire_faults(history, place, body, model))
    warnings = tuple(fault for fault in found if isinstance(fault, Problem) and not fault.is_refused)
    problems = tuple(fault for fault in found if fault not in warnings)
    return Diagnosis("wire" if problems else None, problems, _report(history, place), warnings)


def _report(history: History, place: Target) -> Report | None:
    try:
        return render(history, place).report
    except Exception:  # a report on what is broken; better none than a second failure
        return None


def _render_faults(history: History, place: Target) -> Iterator[Diagnostic]:
    try:
        kept = view(history, place)
        fresh = Transcript(history, kept.transcript.reader).messages
    except Exception as error:
        yield Diagnostic("render", "unreadable_transcript", detail=repr(error))
        return
    yield from render_check.violations(kept.transcript.messages, place.origin)
    yield from _stale(kept, fresh)


def _stale(kept: TargetView, fresh: tuple[Any, ...]) -> Iterator[Diagnostic]:
    """What was rendered turn by turn must be what one render of the whole gives."""
    messages = kept.transcript.messages
    if messages != fresh:
        pairs = zip(messages, fresh, strict=False)
        at = next((at for at, (old, new) in enumerate(pairs) if old != new), min(len(messages), len(fresh)))
        yield Diagnostic("render", "stale_transcript", detail=f"from message {at} on")


def _wire_faults(history: History, place: Target, body: Body | None, model: str | None) -> Iterator[Fault]:
    try:
        given: Any = render(history, place) if body is None else body
    except UsageError:
        raise
    except Exception as error:
        yield Diagnostic("wire", "unencodable", detail=repr(error))
        return
    asked, named = _unwrap_envelope(getattr(given, "body", given))
    yield from wire_check(
        place.provider.name,
        asked,
        model=model or named or place.model,
        headers=getattr(given, "headers", None),
        warnings=True,
    )


def _unwrap_envelope(body: Any) -> tuple[Any, str]:
    """The request itself, out of its envelope where it has one, and the model that is named there."""
    try:
        value = loads(body) if isinstance(body, str | bytes) else body
    except (ValueError, RecursionError):
        return body, ""  # the wire checker says so
    if not isinstance(value, Mapping):
        return value, ""
    inner, model = value.get("request"), value.get("model")
    return inner if isinstance(inner, Mapping) else value, model if isinstance(model, str) else ""
