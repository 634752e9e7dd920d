"""Our own requests are held to more than the servers ask: no rule is broken that only some of them apply."""

from __future__ import annotations

from typing import Any

from turnout import check
from turnout.targets.target import Target
from turnout.wire.check import Problem
from turnout.wire.request import WireRequest

OWN_ORDER = "ANT-31"
"""Text after a call. A turn that Claude itself wrote so goes back to it so."""


def problems_of(place: Target, request: WireRequest, body: Any = None) -> list[Problem]:
    """What anyone could have against this request; `body` is what is in its envelope, where it has one."""
    found = check(
        place.provider.name,
        request.body if body is None else body,
        model=place.model,
        headers=request.headers,
        warnings=True,
    )
    return [problem for problem in found if problem.rule != OWN_ORDER]
