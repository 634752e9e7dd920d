"""Claude on Vertex: the rules of the Messages API, and the two fields that differ.

The path names the model, and the body the version of the API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..problem import Problem
from . import rules

VERSION = "vertex-2023-10-16"


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What Claude on Vertex would refuse."""
    if "model" in body:
        answer = "model: Extra inputs are not permitted"
        yield Problem("VTX-01", "model", answer, "leave `model` out: the path names it")
    version = body.get("anthropic_version")
    if version is None:
        answer = "anthropic_version: Field required"
        yield Problem("VTX-01", "anthropic_version", answer, f'send "anthropic_version": "{VERSION}"')
    elif version != VERSION:
        answer = f"anthropic_version: Input should be '{VERSION}'"
        yield Problem("VTX-01", "anthropic_version", answer, f'send "anthropic_version": "{VERSION}"')
    yield from rules.violations({**body, "model": model or "claude"}, model=model)
