"""APIs that are not spoken: each place where a user meets them names the way on."""

from __future__ import annotations

import pytest
from tests.corpus import exchanges, needs_corpus

from turnout import decode, ingest, read_request, render
from turnout.errors import ProviderError, StreamError, UsageError
from turnout.history.log import History

COHERE = {"message": "Hello", "model": "command", "stream": False}
INTERACTIONS = {"input": "Hello", "model": "gemini-2.5-flash", "generation_config": {}}


@pytest.mark.parametrize(("body", "way"), [(COHERE, "'cohere'"), (INTERACTIONS, "'gemini'")])
@pytest.mark.parametrize("read", [ingest, read_request])
@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "gemini", "cohere"])
def test_a_body_is_recognised(body: dict[str, object], way: str, read: object, format: str) -> None:
    """By its shape, whatever format it was called."""
    with pytest.raises(UsageError, match=way):
        read(body, format)  # type: ignore[operator]


@pytest.mark.parametrize(("name", "way"), [("cohere-v1", "'cohere'"), ("gemini_interactions", "'gemini'")])
def test_a_name_is_recognised(name: str, way: str) -> None:
    """As a format and as a provider."""
    with pytest.raises(UsageError, match=way):
        ingest([], name)
    with pytest.raises(UsageError, match=way):
        render(History("h"), f"{name}:model")


@needs_corpus
@pytest.mark.parametrize(
    ("family", "to"), [("cohere_v1", "cohere:command"), ("gemini_interactions", "gemini:x")]
)
def test_every_recording_gets_the_error(family: str, to: str) -> None:
    """Requests and replies, streamed or not."""
    for exchange in exchanges(family):
        if exchange.request is not None:
            with pytest.raises(UsageError, match="which turnout does not speak"):
                ingest(exchange.request, to.partition(":")[0])
        with pytest.raises((StreamError, ProviderError), match="which turnout does not speak"):
            decode(to, exchange.body)
