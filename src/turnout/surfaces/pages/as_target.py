"""A conversation as another provider reads it: the request, what `check` says of it, and a diff."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import unified_diff
from typing import Any

from markupsafe import Markup

from ...diagnostic import CODES, Diagnostic
from ...errors import TurnoutError, UsageError
from ...history.log import History
from ...interchange.naive_replay import naive_request
from ...model import ModelTurn, Origin
from ...rendering.report import Report
from ...targets.request import render
from ...targets.target import Target
from ...wire.check import Problem, check
from ...wire.request import WireRequest
from ..shared.clean_text import one_line
from ..shared.conversation_html.markdown import diff_lines_html
from ..shared.conversation_html.masked_json import json_html, pretty_json, shortened_lines

MOST_DIFF_LINES = 3000


def target_values(history: History, target: Target, against: Target | None) -> dict[str, Any]:
    """What the page shows for one target."""
    request = render(history, target)
    text = pretty_json(request.json)
    return {
        "target": str(target.origin),
        "url": request.url,
        "size": len(request.body),
        "body": Markup(json_html(text, call_links(request.ids))),
        "problems": problems_of(target, request),
        "repairs": repairs_of(request.report, history.diagnostics),
        "changes": list(request.changes),
        "refusals": naive_refusals(history, target),
        "against": str(against.origin) if against is not None else "",
        "diff": _diff_html(history, against, text) if against is not None else None,
        "calls": request.ids,
    }


def problems_of(target: Target, request: WireRequest) -> list[Problem]:
    """What the provider would refuse in our request."""
    return check(target.provider.name, request, model=target.model, warnings=True)


def naive_refusals(history: History, target: Target) -> list[Problem]:
    """What it would refuse in the same messages as they came: the provider's words."""
    try:
        _, body = naive_request(history, str(target.origin))
        return check(target.provider.name, body, model=target.model)[:50]
    except (KeyError, TurnoutError, ValueError):
        return []  # a protocol that other programs do not send as it came


def repairs_of(report: Report, found: Iterable[Diagnostic] = ()) -> list[dict[str, str]]:
    """Repairs with their rule names, in the order in which they were made."""
    items = [*found, *report.diagnostics]
    return [
        {
            "rule": item.code,
            "call": item.call_id,
            "detail": one_line(item.detail, 300),
            "meaning": CODES.get(item.code, ""),
        }
        for item in items[:300]
    ]


def last_target(history: History) -> Origin | None:
    """Who answered last."""
    for entry in reversed(history.standing):
        if isinstance(entry, ModelTurn):
            return entry.origin
    return None


def call_links(ids: Mapping[str, str]) -> dict[str, str]:
    """Every id of a call, ours and the target's, and the anchor of that call."""
    return {id: f"call-{ours}" for ours, theirs in ids.items() for id in (ours, theirs)}


def _diff_html(history: History, against: Target, text: str) -> Markup | None:
    try:
        other = pretty_json(render(history, against).json)
    except UsageError:
        return None
    before, after = (shortened_lines(each, MOST_DIFF_LINES)[0].split("\n") for each in (other, text))
    lines = list(unified_diff(before, after, one_line(str(against.origin)), "this", lineterm="", n=2))
    return Markup(diff_lines_html("\n".join(line[:400] for line in lines[:MOST_DIFF_LINES])))
