"""The depth of a body, told without parsing it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.surfaces.gateway.bodies import PATHS, path_of
from tests.surfaces.gateway.served import ask_once, make_gateway

from turnout.surfaces.gateway.depth import MAX_DEPTH, is_too_deep

BRACKETS = st.text(alphabet='[]{}"\\n', max_size=40)
VALUES = st.recursive(
    BRACKETS | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(BRACKETS, inner, max_size=4),
    max_leaves=30,
)


def nested(value: Any, depth: int) -> Any:
    """The value inside of that many lists and objects."""
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


@given(VALUES, st.lists(BRACKETS, max_size=8))
def test_a_flat_body_is_never_too_deep(value: Any, texts: list[str]) -> None:
    """Whatever brackets its strings hold."""
    assert not is_too_deep(json.dumps([value, texts, "[" * 1000]).encode())


@pytest.mark.parametrize("fills", ["", "[" * 500, "}" * 500, '\\"]['])
def test_the_limit_is_exact(fills: str) -> None:
    """MAX_DEPTH levels are read, one more is not, with brackets in a string beside them."""
    assert not is_too_deep(json.dumps([fills, nested(1, MAX_DEPTH - 1)]).encode())
    if "}" not in fills and "]" not in fills:
        assert is_too_deep(json.dumps([fills, nested(1, MAX_DEPTH)]).encode())


def test_many_brackets_far_below_are_refused_unread() -> None:
    """Each of them would be looked at; a wide body near the top is no trouble."""
    tower = b"[" * 200 + b"]" * 200
    assert is_too_deep(b"[" + b",".join([tower] * 2000) + b"]")
    assert not is_too_deep(b"[" + b",".join([b"[[],{}]"] * 100_000) + b"]")


@pytest.mark.parametrize("protocol", PATHS)
@pytest.mark.parametrize("depth", [300, 5000])
def test_a_deep_body_is_a_400_in_the_callers_shape(protocol: str, depth: int, tmp_path: Any) -> None:
    """It is not sent on, and the message says the limit. Counting tokens refuses it too."""
    gateway = make_gateway(tmp_path)
    body = b'{"messages": %b}' % (b"[" * depth + b"]" * depth)
    body = body.replace(
        b"messages", {"responses": b"input", "gemini": b"contents"}.get(protocol, b"messages")
    )
    paths = [path_of(protocol, "kimi:kimi-k2.5")]
    paths += [paths[0].replace("generateContent", "countTokens")] if protocol == "gemini" else []
    paths += ["/v1/messages/count_tokens"] if protocol == "anthropic" else []
    for path in paths:
        answer = ask_once(gateway, "POST", path, body)
        assert answer.status == 400
        assert f"deeper than {MAX_DEPTH} levels" in answer.json["error"]["message"]
