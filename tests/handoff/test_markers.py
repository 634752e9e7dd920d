"""The law of marks: nothing that a request says vanishes without a word.

Every leaf of every recorded request gets a mark of its own. Rendered for whom it was written
and for five others, each mark is in the body, or the report names what it stood in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.corpus import Exchange, needs_corpus, share
from tests.handoff import recorded
from tests.handoff.judges import inner
from tests.handoff.markers import Leaf, Marker, unmarked_options
from tests.handoff.naming import is_named, names_option, report_lines
from tests.handoff.rich_bodies import BODIES

from turnout import InboundRequest, read_request, render
from turnout.targets.target import Target
from turnout.targets.target import find_target as target

OTHERS = tuple(
    map(
        target,
        (
            *("openai:gpt-4o", "openai-responses:gpt-5.1", "anthropic:claude-sonnet-4-5"),
            *("gemini:gemini-2.5-flash", "mistral:mistral-large-latest", "kimi:kimi-k2.5"),
        ),
    )
)
FORMAT_OF_API = {"chat": "openai-chat", "responses": "openai-responses"}
SHARDS = 2

# Leaves that nobody is told of, not even whom they were written for.
SILENT_AT_HOME = {
    r".*\.\$schema": "names the dialect that a schema is written in, and says nothing of the schema",
    r"messages\.\[\]\.reasoning": "the same text stands in reasoning_details, which goes back",
    r".*\.(encrypted_content|encrypted_index)": "of a pair that is broken: nobody can read it",
}
# What is one model's private state stays with it.
SILENT_ELSEWHERE = {
    **SILENT_AT_HOME,
    r".*\.(signature|thoughtSignature|thought_signature)": "only the model that signed it can read it",
}


def losses(body: dict[str, Any], form: str, origin: str, place: Target) -> Iterator[str]:
    """The leaves of a body that are neither sent to a place nor named."""
    marker = Marker()
    inbound = read_request(marker.body(body), form, origin)
    request = render(inbound.history, place, options=inbound.options, stream=inbound.stream)
    sent, lines = inner(request, place).decode(), report_lines(inbound, request)
    silent = SILENT_AT_HOME if str(place.origin) == origin else SILENT_ELSEWHERE
    for leaf in marker.leaves:
        if leaf.is_in(sent) or is_named(leaf, lines, marker.names.values()):
            continue
        if not _is_silent(leaf, body, silent):
            yield f"{leaf.place} ({' > '.join(leaf.kinds)})"


def _is_silent(leaf: Leaf, body: dict[str, Any], silent: dict[str, str]) -> bool:
    if leaf.place == "messages.[].reasoning":  # only beside the details that hold it
        return "reasoning_details" in body["messages"][leaf.path[1]]
    return any(re.fullmatch(pattern, leaf.place) for pattern in silent)


def found(exchanges: Any, places: Any) -> list[str]:
    lines: list[str] = []
    for exchange in exchanges:
        form, origin = recorded.FORMATS[exchange.meta["family"]], recorded.origin(exchange)
        for place in places or (target(origin),):
            lost = losses(exchange.request, form, origin, place)
            lines += [f"{exchange.id} -> {place.origin}: {line}" for line in lost]
    return lines


def _shard(shard: int) -> list[Exchange]:
    return list(share(recorded.requests(), 4))[shard::SHARDS]


@needs_corpus
@pytest.mark.parametrize("shard", range(SHARDS))
def test_nothing_vanishes_on_the_way_home(shard: int) -> None:
    """Rendered for whom it was written, a request says all that it said."""
    assert found(_shard(shard), ()) == []


@needs_corpus
@pytest.mark.parametrize("shard", range(SHARDS))
def test_nothing_vanishes_on_the_way_to_others(shard: int) -> None:
    """Rendered for six other targets, what cannot be said there is named in the report."""
    assert found(_shard(shard), OTHERS) == []


@needs_corpus
@pytest.mark.parametrize("shard", range(SHARDS))
def test_nothing_vanishes_in_any_format(shard: int) -> None:
    """The same conversations, written in each of the four formats and read from there."""
    lines: list[str] = []
    for at, exchange in enumerate(_shard(shard)):
        history = recorded.history(exchange)
        for place in (OTHERS[at % 4], OTHERS[(at + 1) % 4]):
            body, form = render(history, place).json, FORMAT_OF_API.get(place.api, place.api)
            for to in (place, OTHERS[(at + 2) % len(OTHERS)]):
                lost = losses(body, form, str(place.origin), to)
                lines += [f"{exchange.id} as {place.api} -> {to.origin}: {line}" for line in lost]
    assert lines == []


# Options that cannot be marked: switches, and words of an API's own

USUAL = {
    r"stream": "said apart from the options",
    r"outputConfig\.textFormat\.type": "goes with the schema that stands beside it",
    r"tool_choice(\.type)?|toolConfig\.functionCallingConfig\.mode|function_call": "auto is what all do",
    r"n|generationConfig\.candidateCount": "one answer is what everyone gives",
    r"store|include\.\[\]": "nothing is stored, and reasoning is asked for, unless it is said",
    r"stream_options\.include_usage": "usage is asked for wherever it can be",
    r"cache_control(\..*)?": "prompts are cached unless it is said",
    r"response_format\.type|text\.format\.type": "text is what everyone answers with",
    r"(response_format\.json_schema|text\.format)\.name": "answer is what it is called unless it is said",
    r"(response_format\.json_schema|text\.format)\.strict": "false is usual; Anthropic knows only true",
    r"parallel_tool_calls|tool_choice\.disable_parallel_tool_use": "calls are parallel unless it is said",
    r"generationConfig\.(responseMimeType|response_mime_type)": "goes with the schema that stands beside it",
    r"(.*\.)?thinking\.type|.*\.(includeThoughts|include_thoughts)": "an effort or a budget asks too",
    r"toolConfig\.includeServerSideToolInvocations": "said wherever Google's tools stand with functions",
    r".*\.thinkingLevel": "the level that is usual for who is asked",
}
NOTHING_TO_SAY = r"enable_thinking|think|reasoning_effort"  # not to think, to a model that does not


def silent_options(body: dict[str, Any], form: str, origin: str, place: Target) -> Iterator[str]:
    """The options that change nothing: neither the request nor the report is another without them."""
    whole = _outcome(read_request(body, form, origin), place)
    for leaf, without in unmarked_options(body):
        if _outcome(read_request(without, form, origin), place) != whole:
            continue
        if names_option(leaf, whole[1]):  # with the whole that it is a part of
            continue
        usual = [*USUAL] if str(place.origin) == origin else [*USUAL, NOTHING_TO_SAY]
        if not any(re.fullmatch(pattern, leaf.place) for pattern in usual):
            yield leaf.place


def _outcome(inbound: InboundRequest, place: Target) -> tuple[bytes, list[str]]:
    request = render(inbound.history, place, options=inbound.options, stream=inbound.stream)
    return request.body, report_lines(inbound, request)


@needs_corpus
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_switch_is_sent_or_named(shard: int) -> None:
    """A recorded request without one of its options is another request, or has another report."""
    lines: list[str] = []
    for at, exchange in enumerate(_shard(shard)):
        form, origin = recorded.FORMATS[exchange.meta["family"]], recorded.origin(exchange)
        for place in (target(origin), OTHERS[at % len(OTHERS)]):
            silent = silent_options(exchange.request, form, origin, place)
            lines += [f"{exchange.id} -> {place.origin}: {path}" for path in silent]
    assert lines == []


# The law itself


def test_the_law_hears_what_is_lost() -> None:
    """A mark that is nowhere is found missing; in the body, or named, it is not."""
    marker = Marker()
    body = marker.body({"messages": [{"role": "user", "content": "hi"}], "top_k": 5, "seed": 7})
    text, top_k, seed = marker.leaves
    assert text.mark in body["messages"][0]["content"]
    assert (body["top_k"], body["seed"]) == (int(top_k.mark), int(seed.mark))
    assert is_named(top_k, ["top_k left out: this API does not have it"], ())
    assert not is_named(seed, ["top_k left out: this API does not have it"], ())
    assert not is_named(text, ["top_k left out: this API does not have it"], ())


@pytest.mark.parametrize("form", BODIES)
def test_nothing_vanishes_of_what_an_api_knows(form: str) -> None:
    """Every kind of block, tool and option, and fields that nobody knows, at home and elsewhere."""
    body, origin = BODIES[form]
    lines = [f"{place.origin}: {line}" for place in OTHERS for line in losses(body, form, origin, place)]
    assert lines == []
