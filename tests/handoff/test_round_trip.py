"""A recorded request, taken in and rendered for the provider it went to: it says the same again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.corpus import Exchange, needs_corpus
from tests.handoff import recorded
from tests.handoff.hearing import Heard, hear
from tests.handoff.judges import inner
from tests.handoff.recorded_body import spelled
from tests.handoff.test_matrix import SHARDS, _shard

from turnout import History, render
from turnout.targets.target import find_target as target

EXCEPTIONS = {
    "blocks of a beta, or half of a pair: told in words": "0acb3465a81abf ddec65d0685f21 8fd0fabd097717",
    "ends with a call: it is answered as interrupted": "1e4de90d6ca886 495499a8d4cd1c",
    "the table says that this model sees no images": "eb7078b0a90543",
}
FILLERS = (
    *("(The conversation goes on from here.)", "Please continue.", "(no text)", "OK."),
    "See the attached document.",  # Converse wants a text beside a document
)


def differences(exchange: Exchange) -> Iterator[str]:
    """What the rendered body says otherwise than the recorded one, field by field."""
    history, place = recorded.history(exchange), target(recorded.origin(exchange))
    request = render(history, place)
    before = hear(request.protocol, spelled(request.protocol, exchange.request))
    after = hear(request.protocol, json.loads(inner(request, place)))
    after.model = [text for text in after.model if not _names_cited_sources(text, exchange)]
    for field in ("system", "user", "model"):
        old, new = _words(getattr(before, field)), _words(getattr(after, field))
        if old != new:
            yield f"{field}: {_first_difference(old, new)}"
    yield from _calls(before, after)
    yield from _others(before, after, history)


def _words(texts: list[str]) -> str:
    """Everything that was said, without white space and fillers."""
    kept = [text for text in texts if text.strip() not in FILLERS]
    return "".join("".join(text.split()) for text in kept)


def _names_cited_sources(text: str, exchange: Exchange) -> bool:
    """Whether this is the line that tells annotations in words: no API takes them back as annotations."""
    kind, _, links = text.partition(" ")
    named = [url or title for title, url in re.findall(r"\[([^\]]+)\](?:\(([^)]+)\))?", links)]
    cited = json.dumps(exchange.request, ensure_ascii=False)
    return kind == "[sources]" and bool(named) and all(json.dumps(name)[1:-1] in cited for name in named)


def _first_difference(old: str, new: str) -> str:
    at = next(
        (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    return f"{old[max(0, at - 10) : at + 60]!r} became {new[max(0, at - 10) : at + 60]!r}"


def _calls(before: Heard, after: Heard) -> Iterator[str]:
    old = [(name, arguments) for _, name, arguments in before.calls]
    new = [(name, arguments) for _, name, arguments in after.calls]
    if old != new:
        yield f"calls: {old} became {new}"
    told = [_result(text) for text in _in_call_order(before)]
    heard = [_result(text) for _, text in after.results]
    if told != heard:
        yield f"results: {told} became {heard}"


def _in_call_order(heard: Heard) -> list[str]:
    results = dict(heard.results)
    return [results[id] for id, _, _ in heard.calls if id in results]


def _result(text: str) -> Any:
    """A result as what it means: the JSON that it is, or its words; nothing where it is empty."""
    if text in ("", "{}", "[empty tool result]", "[see the attached media]"):
        return ""
    try:
        return json.loads(text)
    except ValueError:
        return re.sub(r"^Error: ", "", "".join(text.split()))


def _others(before: Heard, after: Heard, history: History) -> Iterator[str]:
    if sorted(map(_source, before.media)) != sorted(map(_source, after.media)):
        yield f"media: {len(before.media)} became {len(after.media)}"
    if missing := [name for name in before.tools if name not in after.tools]:
        yield f"tools: {missing} are gone"
    secrets = [secret for secret in before.reasoning if len(secret) > 16 and " " not in secret]
    if lost := [secret for secret in secrets if secret not in "\n".join(after.reasoning)]:
        yield f"reasoning: {lost[0][:40]} is gone"


def _source(part: str) -> str:
    """The data or the address of a medium, whatever stands around it."""
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', part)
    longest = max(strings, key=len)
    data = longest.partition("base64,")[2] or longest
    return data.replace("-", "+").replace("_", "/")  # two alphabets of base64


def answered() -> list[Exchange]:
    """The requests that were answered, without those that go on from a response that the server keeps."""
    named = " ".join(EXCEPTIONS.values()).split()
    return [
        exchange
        for exchange in recorded.requests()
        if exchange.status == 200
        and exchange.id not in named
        and "previous_response_id" not in exchange.request
    ]


@needs_corpus
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_recorded_request_says_the_same_again(shard: int) -> None:
    """System text, words, calls, results, media, tools and its own reasoning: all that was answered."""
    found = [
        f"{exchange.id} ({recorded.origin(exchange)}): {line}"
        for _, exchange in _shard(answered(), shard)
        for line in differences(exchange)
    ]
    assert found == []
