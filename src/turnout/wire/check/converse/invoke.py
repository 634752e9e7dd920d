"""Claude behind InvokeModel: the rules of the Messages API, and the three fields that differ.

The path names the model and whether the reply is streamed; the body names the version of the API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..anthropic import rules
from ..chat.view import array, mapping
from ..problem import Problem

VERSION = "bedrock-2023-05-31"


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What Claude behind InvokeModel would refuse."""
    for name in ("model", "stream"):
        if name in body:
            answer = f"Malformed input request: #: extraneous key [{name}] is not permitted"
            yield Problem("BDK-12", name, answer, f"leave `{name}` out: the path says it")
    if body.get("anthropic_version") != VERSION:
        answer = "anthropic_version: Field required"
        advice = f'send "anthropic_version": "{VERSION}"'
        yield Problem("BDK-12", "anthropic_version", answer, advice)
    yield from _links(body)
    rest = {name: value for name, value in body.items() if name not in ("stream", "anthropic_version")}
    yield from rules.violations({**rest, "model": model or "claude"}, model=model)


def _links(body: Mapping[str, Any]) -> Iterator[Problem]:
    """Recorded: Bedrock opens no links."""
    for at, message in enumerate(array(body.get("messages"))):
        for place, block in enumerate(array(mapping(message).get("content"))):
            if mapping(mapping(block).get("source")).get("type") == "url":
                path = f"messages.{at}.content.{place}"
                answer = f"{path}.image.source.base64.data: URL sources are not supported"
                yield Problem("BDK-12", path, answer, "send the bytes as base64")
