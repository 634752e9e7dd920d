"""Anything may come over the routes: it is answered or refused, and never a failure of ours."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.surfaces.gateway.bodies import PATHS, body_of, path_of
from tests.surfaces.gateway.served import ask, make_gateway

from turnout.simulate import ScriptedTransport
from turnout.simulate.model import demo
from turnout.surfaces.gateway.gateway import Gateway

EXAMPLES = 5000 if os.environ.get("TURNOUT_SOAK") else 60
MODEL = "kimi:kimi-k2.5"
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PRINTABLE = st.characters(min_codepoint=32, max_codepoint=126)
TOOLS = [{"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}]
CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
MESSAGES: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "seen"},
    {"role": "user", "content": "and?"},
]
PLACES = (
    "/",
    "/health",
    "/metrics",
    "/usage",
    "/v1/models",
    "/v1beta/models",
    "/requests/x.json",
    "/v1/nothing",
)


@pytest.fixture(scope="module")
def gateway() -> Iterator[Gateway]:
    with tempfile.TemporaryDirectory() as folder:
        yield make_gateway(Path(folder), transport=ScriptedTransport(demo, keeps=10))


def paths_in(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield above
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, item in children:
        yield from paths_in(item, (*above, name))


def with_junk(body: Any, path: tuple[Any, ...], junk: Any, removes: bool) -> Any:
    """The body with another value at a place, or without it."""
    if not path:
        return junk
    changed: Any = json.loads(json.dumps(body))
    place = changed
    for name in path[:-1]:
        place = place[name]
    if removes:
        del place[path[-1]]
    else:
        place[path[-1]] = junk
    return changed


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_damaged_request_is_answered_or_refused(gateway: Gateway, data: st.DataObject) -> None:
    """A body of each protocol with one part replaced or missing: 200 or a 4xx with a JSON error."""
    protocol, streams = data.draw(st.sampled_from(list(PATHS))), data.draw(st.booleans())
    body = body_of(protocol, MODEL, MESSAGES, TOOLS, streams)
    path = data.draw(st.sampled_from(sorted(paths_in(body), key=str)))
    damaged = with_junk(body, path, data.draw(JUNK), data.draw(st.booleans()))
    _check_answer(gateway, "POST", path_of(protocol, MODEL, streams), json.dumps(damaged).encode())


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_bytes_are_answered_or_refused(gateway: Gateway, data: st.DataObject) -> None:
    """Bytes that are not JSON, JSON that is cut, any method at any path."""
    protocol = data.draw(st.sampled_from(list(PATHS)))
    whole = json.dumps(body_of(protocol, MODEL, MESSAGES, TOOLS)).encode()
    cut = data.draw(st.integers(0, len(whole)))
    body = data.draw(st.binary(max_size=40)) + whole[:cut] + data.draw(st.binary(max_size=10))
    path = data.draw(st.sampled_from([path_of(protocol, MODEL), *PLACES]))
    _check_answer(gateway, data.draw(st.sampled_from(["POST", "GET", "PUT", "DELETE"])), path, body)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    model=st.text(max_size=30),
    target=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30),
)
def test_any_name_of_a_model_is_answered_or_refused(gateway: Gateway, model: str, target: str) -> None:
    """In the body, in Gemini's path, and in the header."""
    _check_answer(gateway, "POST", PATHS["chat"], json.dumps(body_of("chat", model, MESSAGES, [])).encode())
    body = json.dumps(body_of("chat", MODEL, MESSAGES, [])).encode()
    _check_answer(gateway, "POST", PATHS["chat"], body, x_turnout_target=target)


def _check_answer(gateway: Gateway, method: str, path: str, body: bytes, **headers: str) -> None:
    answer = asyncio.run(ask(gateway, method, path, body, **headers))
    assert answer.status < 500 or answer.status in (502, 504), (answer.status, answer.body[:300])
    if answer.status == 502:  # a provider that there is no key for, told as such
        assert b"key" in answer.body
    if answer.status >= 400:
        assert json.loads(answer.body)["error"]


@pytest.mark.parametrize("depth", [50, 1000, 200_000])
def test_a_deep_body_is_answered_or_refused(gateway: Gateway, depth: int) -> None:
    """Brackets in brackets, in a message and in the arguments of a call."""
    nested = b"[" * depth + b"]" * depth
    body = b'{"model": "kimi:kimi-k2.5", "messages": [{"role": "user", "content": %b}]}' % nested
    _check_answer(gateway, "POST", PATHS["chat"], body)
    _check_answer(gateway, "POST", PATHS["chat"], nested)
