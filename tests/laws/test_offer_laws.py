"""Whatever the tools of a request are called, and however many: they are offered, each under one name."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.build import call, conversation, model, settled, user
from tests.laws.share import SOAK
from tests.laws.targets import TARGETS

from turnout.ids import NAMES_OF_FORMAT, OPENAI_NAMES
from turnout.targets.request import render
from turnout.targets.target import Target
from turnout.wire.check import check

EXAMPLES = 400 if SOAK else 40
FORMATS = [*NAMES_OF_FORMAT.values(), OPENAI_NAMES]
PLAIN = st.sampled_from(["read", "größe", "9lives", "-x", "_x", "a.b/c d", "x" * 90, "", " ", "a#1"])
NAMES = PLAIN | st.text(min_size=1, max_size=3)
LIKENESSES = st.builds(lambda name, form: form.project(name), NAMES, st.sampled_from(FORMATS))
"""Names that are what another name is projected to."""


def offered_names(body: dict[str, Any]) -> list[str]:
    body = body.get("request", body)
    declared = body.get("tools") or body.get("toolConfig", {}).get("tools", [])
    if declared and "functionDeclarations" in declared[0]:
        declared = declared[0]["functionDeclarations"]
    tools = [tool.get("function") or tool.get("toolSpec") or tool for tool in declared]
    return [tool["name"] for tool in tools if "cachePoint" not in tool]  # where Converse is to cache


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists((NAMES | LIKENESSES).filter(bool), max_size=6, unique=True),
    st.lists(NAMES | LIKENESSES, min_size=1, max_size=3),
    st.sampled_from(TARGETS),
)
def test_every_tool_has_a_name_of_its_own(given_names: list[str], called: list[str], place: Target) -> None:
    """No two tools share a name on the wire, each name leads back to its tool, and the provider takes it."""
    calls = [call(name, f"raw{n}") for n, name in enumerate(called)]
    history = conversation(user("go"), model(*calls), *(settled(f"raw{n}") for n in range(len(calls))))
    request = render(history, place, tools=[{"name": name} for name in given_names])

    sent = offered_names(request.json)
    assert len(set(sent)) == len(sent)
    assert {request.names[name] for name in sent if name in request.names} == set(given_names)
    assert check(place.provider.name, request.body, model=place.model) == []


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(120, 140) | st.integers(505, 520), st.sampled_from(TARGETS), st.data())
def test_no_number_of_tools_is_refused(count: int, place: Target, data: st.DataObject) -> None:
    """Those already called are offered first, and each tool is offered or named in the report."""
    names = [f"tool_{n}" for n in range(count)]
    called = data.draw(st.sampled_from(names))
    history = conversation(user("go"), model(call(called, "1")), settled("1"))
    request = render(history, place, tools=[{"name": name} for name in names])

    sent = offered_names(request.json)
    told = " ".join(request.changes)
    assert called in sent
    assert [name for name in names if name not in sent and f" {name}" not in told] == []
    assert check(place.provider.name, request.body, model=place.model) == []
