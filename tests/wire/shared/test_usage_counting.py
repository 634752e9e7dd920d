"""Token counts of one API by the rules of another."""

from __future__ import annotations

import json

from tests.wire.reencoding import PROTOCOLS

from turnout import Done, ReplyEncoder, Usage
from turnout.wire.shared.usage_counting import counted_for

CLAUDE = Usage(input=10, output=7, cached_input=90, cache_write=5)
GPT = Usage(input=105, output=7, cached_input=90, cache_write=5)


def test_cached_tokens_are_apart_for_anthropic_and_among_the_input_for_others() -> None:
    """No token is counted twice, and none is lost."""
    assert counted_for(CLAUDE, "chat", "anthropic") == GPT
    assert counted_for(GPT, "anthropic", "responses") == CLAUDE


def test_thoughts_are_apart_for_gemini_and_among_the_output_for_others() -> None:
    """Their number is told either way."""
    gemini, gpt = Usage(output=5, reasoning=20), Usage(output=25, reasoning=20)

    assert counted_for(gemini, "anthropic", "gemini") == gpt
    assert counted_for(gpt, "gemini", "chat") == gemini


def test_counts_survive_the_way_there_and_back() -> None:
    """Between any two protocols; an unknown one changes nothing."""
    for first in PROTOCOLS:
        assert counted_for(CLAUDE, first, "") == CLAUDE
        for second in PROTOCOLS:
            assert counted_for(counted_for(GPT, second, first), first, second) == GPT or first == "anthropic"


def test_an_encoder_is_told_who_counted() -> None:
    """A client of Chat sees all tokens of the prompt, also those that Claude read from its cache."""
    encoder = ReplyEncoder("chat", model="m", upstream="anthropic")
    body = encoder.start() + encoder.feed(Done("end", "end_turn", CLAUDE)) + encoder.end()

    assert json.loads(body.split(b"data: ")[2])["usage"]["prompt_tokens"] == 105
