"""Output limits and modalities, from two packages that list them for other programs.

`langchain-*` carry the data of models.dev for five makers, and say yes or no. `litellm` has a table
of many hosts, in which only a yes is a statement. A limit as large as the window says only that the
window ends the answer, so it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from turnout.providers.models import normalize_model_name

PROFILES = {
    "openai": "langchain_openai",
    "anthropic": "langchain_anthropic",
    "gemini": "langchain_google_genai",
    "mistral": "langchain_mistralai",
    "deepseek": "langchain_deepseek",
}
HOSTS = {
    "anthropic": "anthropic",
    "bedrock_converse": "bedrock",
    "cerebras": "cerebras",
    "cohere_chat": "cohere",
    "dashscope": "qwen",
    "deepseek": "deepseek",
    "gemini": "gemini",
    "groq": "groq",
    "mistral": "mistral",
    "moonshot": "kimi",
    "openai": "openai",
    "sambanova": "sambanova",
    "xai": "xai",
    "zai": "zai",
}
"""litellm's names of hosts, and ours. Its rows of hosts that resell many models are old, and left out."""
MODALITIES = ("image", "pdf", "audio", "video")
LEAST = 1_024
"""Models that embed or draw are listed with 0, 1, or the size of a vector."""

Limits = list[Any]


def sources() -> dict[str, str]:
    """The packages that were read, with their versions."""
    names = ("litellm", *(package.replace("_", "-") for package in PROFILES.values()))
    return {name: version(name) for name in names}


def limits() -> dict[str, dict[str, Limits]]:
    """By provider and normalized name: the most tokens of an answer, and whether a model reads each kind."""
    found: dict[str, dict[str, Limits]] = {}
    for provider, model, row in (*_rows_of_litellm(), *_rows_of_profiles()):
        held = found.setdefault(provider, {}).get(model, [None] * len(row))
        merged = [old if new is None else new for old, new in zip(held, row, strict=True)]
        found[provider][model] = merged
    return {name: _listed(rows) for name, rows in sorted(found.items()) if _listed(rows)}


def _listed(rows: Mapping[str, Limits]) -> dict[str, Limits]:
    return {name: row for name, row in sorted(rows.items()) if any(each is not None for each in row)}


def _rows_of_profiles() -> Iterator[tuple[str, str, Limits]]:
    for provider, package in PROFILES.items():
        for model, said in import_module(f"{package}.data._profiles")._PROFILES.items():
            if said.get("text_outputs") and (said.get("max_output_tokens") or 0) > LEAST:
                # The package adds `pdf_inputs` to all models of a maker, so it says nothing of one.
                reads = [None if kind == "pdf" else said.get(f"{kind}_inputs") for kind in MODALITIES]
                yield provider, normalize_model_name(model), [_own_limit(said), *reads]


def _rows_of_litellm() -> Iterator[tuple[str, str, Limits]]:
    package = find_spec("litellm")  # importing it would ask the network for a newer table
    assert package is not None and package.origin is not None
    table = Path(package.origin).with_name("model_prices_and_context_window_backup.json")
    for model, said in json.loads(table.read_text()).items():
        provider = HOSTS.get(said.get("litellm_provider", ""), "")
        if provider and said.get("mode") in ("chat", "responses"):
            names = ("supports_vision", "supports_pdf_input", "supports_audio_input", "supports_video_input")
            yield (
                provider,
                normalize_model_name(model),
                [_own_limit(said), *(said.get(name) or None for name in names)],
            )


def _own_limit(said: Mapping[str, Any]) -> int | None:
    output, window = said.get("max_output_tokens"), said.get("max_input_tokens")
    if not isinstance(output, int) or not isinstance(window, int):
        return None
    return output if LEAST < output < window else None
