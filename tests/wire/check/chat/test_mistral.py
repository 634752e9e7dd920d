"""Mistral's rules against Mistral's own validator, over conversations of every shape."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import MistralRequestValidatorV11, ValidationMode
from tests.wire.check.chat.bodies_chat import body, call, result, said, system, tool, user

from turnout.wire.check import check

IDS = ("aaaaaaaaa", "bbbbbbbbb", "ccccccccc")
NAMES = st.sampled_from(["get_weather", "a.b", "n" * 65])
ID_LISTS = st.lists(st.sampled_from(IDS), max_size=2)
MESSAGES = st.one_of(
    st.just(user()),
    st.just(system()),
    st.builds(lambda id: result(id), st.sampled_from(IDS)),
    st.builds(lambda ids: said("ok", tool_calls=[call(id) for id in ids] or None), ID_LISTS),
    st.just(said("The", prefix=True)),
)


def is_accepted(request: dict[str, Any]) -> bool:
    try:
        parsed = ChatCompletionRequest.model_validate(request)
        MistralRequestValidatorV11(mode=ValidationMode.serving).validate_request(parsed)
    except (MistralCommonException, ValueError):
        return False
    return True


@settings(max_examples=400, deadline=None)
@given(first=st.sampled_from([user(), system()]), rest=st.lists(MESSAGES, max_size=6))
def test_we_refuse_what_mistral_refuses(first: dict[str, Any], rest: list[dict[str, Any]]) -> None:
    """The same verdict on every order of roles and every pairing of ids.

    The first message is not one with calls: their validator skips it, their API does not.
    """
    request = body("mistral-large-latest", first, *rest)

    assert (check("mistral", request) == []) == is_accepted(request)


@settings(max_examples=50, deadline=None)
@given(name=NAMES, kind=st.sampled_from(["object", "objekt"]))
def test_we_agree_about_tools(name: str, kind: str) -> None:
    """Our checker and mistral_common give the same verdict."""
    request = body("mistral-large-latest", user(), tools=[tool(name, {"type": kind})])

    assert (check("mistral", request) == []) == is_accepted(request)
