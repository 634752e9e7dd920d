"""Streams written after real ones, each with the events it amounts to. Adding a file adds a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.decoding import Decoder, chat, decode, ollama, one_by_one, responses

FIXTURES = Path(__file__).parents[1] / "fixtures"

DECODERS: dict[str, Callable[[], Decoder]] = {
    "openai": chat,
    "openai-responses": responses,
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
    "xai": lambda: chat("xai"),
}
"""By folder."""

STREAMS = sorted(
    path for name in DECODERS for path in (FIXTURES / name).glob("*") if path.suffix in (".sse", ".ndjson")
)


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
    assert STREAMS
    assert [path for path in STREAMS if not path.with_suffix(".events.json").is_file()] == []
