"""Streams written after real ones, each with the events it amounts to. Adding a file adds a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.decoding import Decoder, chat, cohere, decode, ollama, one_by_one, origin, responses

from turnout.wire.anthropic.decoder import AnthropicDecoder
from turnout.wire.converse.decoder import ConverseDecoder
from turnout.wire.gemini.decoder import GeminiDecoder
from turnout.wire.invoke.decoder import InvokeDecoder

FIXTURES = Path(__file__).parents[1] / "fixtures"

DECODERS: dict[str, Callable[[], Decoder]] = {
    "openai": chat,
    "openai-responses": responses,
    "azure": lambda: chat("azure"),
    "azure-responses": lambda: responses("azure-responses"),
    "bedrock": lambda: ConverseDecoder(origin("bedrock"), "t.1"),
    "bedrock-invoke": lambda: InvokeDecoder(origin("bedrock"), "t.1"),
    "cohere": cohere,
    "copilot": lambda: chat("copilot", joins_choices=True),
    "copilot-responses": lambda: responses("copilot"),
    "deepseek": lambda: chat("deepseek"),
    "gemini-chat": lambda: chat("gemini-chat"),
    "kimi": lambda: chat("kimi"),
    "local": lambda: chat("local", think_tags="think"),
    "mistral": lambda: chat("mistral"),
    "ollama": ollama,
    "openrouter": lambda: chat("openrouter"),
    "qwen": lambda: chat("qwen"),
    "sambanova": lambda: chat("sambanova"),
    "vertex": lambda: GeminiDecoder(origin("vertex"), "t.1"),
    "vertex-claude": lambda: AnthropicDecoder(origin("vertex"), "t.1"),
    "xai": lambda: chat("xai"),
}
"""By folder."""
WITH_ROOMS_OF_THEIR_OWN = ("anthropic", "gemini")
"""`test_decoder.py` of these protocols reads their folders."""

FRAMINGS = (".sse", ".ndjson", ".eventstream")
STREAMS = sorted(path for name in DECODERS for path in (FIXTURES / name).glob("*") if path.suffix in FRAMINGS)


def told(path: Path) -> list[Any]:
    events = decode(DECODERS[path.parent.name](), path.read_bytes())
    return [msgspec.to_builtins(event) for event in events]


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stream_gives_the_events_written_beside_it(path: Path) -> None:
    """Whole, and byte by byte."""
    expected = json.loads(path.with_suffix(".events.json").read_bytes())
    chunks = one_by_one(path.read_bytes())

    assert told(path) == expected
    assert [msgspec.to_builtins(event) for event in decode(DECODERS[path.parent.name](), *chunks)] == expected


def test_every_stream_has_its_events_beside_it() -> None:
    """And there is no folder here that no decoder reads."""
    folders = {folder.name for folder in FIXTURES.iterdir() if folder.is_dir()}

    assert folders == {*DECODERS, *WITH_ROOMS_OF_THEIR_OWN}
    assert [path for path in STREAMS if not path.with_suffix(".events.json").is_file()] == []
    assert {path.parent.name for path in STREAMS} == set(DECODERS)
