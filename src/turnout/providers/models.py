"""What models can do, as data: longest prefix of the model's name wins.

Hosts write the same model in many ways (`anthropic/claude-sonnet-4.5`), so names are
brought to one spelling before they are looked up.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ..wire.protocol import ModelFacts

IMAGE = ("image/png", "image/jpeg", "image/webp", "image/gif")
DOCUMENTS = (*IMAGE, "application/pdf")
CLAUDE = (*IMAGE, "application/pdf", "text/plain")
GEMINI_IMAGE = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
EVERYTHING = (*GEMINI_IMAGE, "audio/", "video/", "application/pdf", "text/")
AUDIO = ("audio/",)
NOTHING: tuple[str, ...] = ()

CLASSIC = ("low", "medium", "high")
GPT_5 = ("minimal", "low", "medium", "high")
GPT_51 = ("none", "low", "medium", "high")
GPT_52 = ("none", "low", "medium", "high", "xhigh")
CLAUDE_EFFORTS = ("low", "medium", "high", "max")
CLAUDE_5_EFFORTS = ("low", "medium", "high", "xhigh", "max")


def _row(context: int, output: int, **facts: Any) -> ModelFacts:
    return ModelFacts(context=context, output=output, **facts)


def _gpt(context: int, output: int, efforts: tuple[str, ...], **facts: Any) -> ModelFacts:
    facts = {"media": DOCUMENTS, "thinking": ("effort",), "sampling": False, **facts}
    return ModelFacts(context=context, output=output, efforts=efforts, **facts)


def _claude(output: int, *thinking: str, **facts: Any) -> ModelFacts:
    return ModelFacts(context=200_000, output=output, thinking=thinking, media=CLAUDE, **facts)


def _gemini(output: int, *thinking: str, **facts: Any) -> ModelFacts:
    return ModelFacts(context=1_048_576, output=output, thinking=thinking, media=EVERYTHING, **facts)


MODELS: dict[str, ModelFacts] = {
    # OpenAI
    "gpt-3.5": _row(16_385, 4_096, media=NOTHING),
    "gpt-4": _row(8_192, 8_192, media=NOTHING),
    "gpt-4-turbo": _row(128_000, 4_096),
    "gpt-4o": _row(128_000, 16_384, media=DOCUMENTS),
    "gpt-4o-audio": _row(128_000, 16_384, media=AUDIO),
    "gpt-4o-mini-audio": _row(128_000, 16_384, media=AUDIO),
    "gpt-audio": _row(128_000, 16_384, media=AUDIO),
    "gpt-4.1": _row(1_047_576, 32_768, media=DOCUMENTS),
    "gpt-4.5": _row(128_000, 16_384, media=DOCUMENTS),
    "o1": _gpt(200_000, 100_000, CLASSIC),
    "o1-mini": _gpt(128_000, 65_536, (), media=NOTHING, tools=False),
    "o1-preview": _gpt(128_000, 32_768, (), media=NOTHING, tools=False),
    "o3": _gpt(200_000, 100_000, CLASSIC),
    "o3-mini": _gpt(200_000, 100_000, CLASSIC, media=NOTHING),
    "o4-mini": _gpt(200_000, 100_000, CLASSIC),
    "gpt-5": _gpt(400_000, 128_000, GPT_5, verbosity=True),
    "gpt-5-chat": _row(128_000, 16_384, media=DOCUMENTS),
    "gpt-5-codex": _gpt(400_000, 128_000, CLASSIC),
    "gpt-5-pro": _gpt(400_000, 272_000, ("high",), verbosity=True),
    "gpt-5.1": _gpt(400_000, 128_000, GPT_51, verbosity=True),
    "gpt-5.1-chat": _gpt(128_000, 16_384, ("medium",)),
    "gpt-5.2": _gpt(400_000, 128_000, GPT_52, verbosity=True),
    "gpt-5.3": _gpt(400_000, 128_000, GPT_52, verbosity=True),
    "gpt-5.4": _gpt(1_050_000, 128_000, GPT_52, chat_tools="no_reasoning", verbosity=True),
    "gpt-5.5": _gpt(1_050_000, 128_000, GPT_52, chat_tools="no_reasoning", verbosity=True),
    "gpt-5.6": _gpt(1_050_000, 128_000, GPT_52, chat_tools="no_reasoning", verbosity=True),
    "gpt-oss": _row(131_072, 32_768, media=NOTHING, thinking=("effort",), efforts=CLASSIC),
    # Anthropic
    "claude": _claude(8_192),
    "claude-3": _claude(4_096),
    "claude-3-5": _claude(8_192),
    "claude-3-7": _claude(64_000, "manual", "off"),
    "claude-opus-4": _claude(32_000, "manual", "off"),
    "claude-sonnet-4": _claude(64_000, "manual", "off"),
    "claude-haiku-4-5": _claude(64_000, "manual", "off"),
    "claude-opus-4-5": _claude(64_000, "manual", "off", efforts=CLASSIC),
    "claude-opus-4-6": _claude(128_000, "adaptive", "manual", "off", efforts=CLAUDE_EFFORTS),
    "claude-sonnet-4-6": _claude(64_000, "adaptive", "manual", "off", efforts=CLAUDE_EFFORTS),
    "claude-haiku-4-6": _claude(64_000, "adaptive", "manual", "off", efforts=CLAUDE_EFFORTS),
    "claude-opus-4-7": _claude(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-sonnet-4-7": _claude(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-opus-4-8": _claude(
        128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False, system_turns=True
    ),
    "claude-sonnet-4-8": _claude(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-sonnet-5": _claude(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-haiku-5": _claude(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-opus-5": _claude(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, system_turns=True
    ),
    "claude-opus-5-5": _claude(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, forced_tools=False, system_turns=True
    ),
    "claude-fable": _claude(128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, system_turns=True),
    "claude-fable-5-1": _claude(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, forced_tools=False, system_turns=True
    ),
    "claude-mythos": _claude(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, system_turns=True
    ),
    # Google
    "gemini": _gemini(8_192),
    "gemini-2.0": _gemini(8_192),
    "gemini-2.5-pro": _gemini(65_536, "budget"),
    "gemini-2.5-flash": _gemini(65_536, "budget", "off"),
    "gemini-3": _gemini(65_536, "level", efforts=CLASSIC, signatures=True),
    "gemini-3-pro": _gemini(65_536, "level", efforts=("low", "high"), signatures=True),
    "gemini-3-flash": _gemini(65_536, "level", efforts=GPT_5, signatures=True),
    "gemini-4": _gemini(65_536, "level", efforts=CLASSIC, signatures=True),
    "gemma": _row(131_072, 8_192),
    # Mistral
    "mistral-large": _row(256_000, 32_768),
    "mistral-medium": _row(128_000, 32_768),
    "mistral-small": _row(128_000, 32_768),
    "mistral-tiny": _row(32_000, 8_192, media=NOTHING),
    "open-mistral": _row(128_000, 8_192, media=NOTHING),
    "open-mixtral": _row(64_000, 8_192, media=NOTHING),
    "ministral": _row(128_000, 8_192),
    "pixtral": _row(128_000, 8_192),
    "codestral": _row(256_000, 8_192, media=NOTHING),
    "devstral": _row(256_000, 32_768, media=NOTHING),
    "magistral": _row(128_000, 40_000, thinking=("always",)),
    # Moonshot
    "kimi": _row(131_072, 32_768, media=NOTHING),
    "kimi-k2": _row(262_144, 32_768, media=NOTHING),
    "kimi-k2-thinking": _row(262_144, 65_536, media=NOTHING, thinking=("always",)),
    "kimi-k2.5": _row(262_144, 65_536, thinking=("on", "off")),
    "kimi-k2.6": _row(262_144, 65_536, thinking=("on", "off")),
    "kimi-k2.7": _row(262_144, 65_536, thinking=("always",)),
    "kimi-k3": _row(1_048_576, 131_072, thinking=("always",)),
    "moonshot-v1": _row(131_072, 8_192, media=NOTHING),
    # DeepSeek
    "deepseek": _row(131_072, 8_192, media=NOTHING),
    "deepseek-reasoner": _row(131_072, 65_536, media=NOTHING, thinking=("always",), sampling=True),
    "deepseek-v4": _row(1_048_576, 131_072, media=NOTHING, thinking=("on", "off")),
    "deepseek-r1": _row(131_072, 32_768, media=NOTHING, thinking=("always",)),
    # Others
    "qwen": _row(131_072, 16_384, media=NOTHING, thinking=("on", "off")),
    "qwen-vl": _row(131_072, 16_384, thinking=("on", "off")),
    "qwen2.5": _row(131_072, 8_192, media=NOTHING),
    "qwen2.5-vl": _row(131_072, 8_192),
    "qwen3": _row(262_144, 32_768, media=NOTHING, thinking=("on", "off")),
    "qwen3-vl": _row(262_144, 32_768, thinking=("on", "off")),
    "grok": _row(131_072, 16_384, media=NOTHING),
    "grok-2-vision": _row(32_768, 8_192),
    "grok-3-mini": _row(131_072, 16_384, media=NOTHING, thinking=("effort",), efforts=("low", "high")),
    "grok-4": _row(256_000, 64_000),
    "grok-code": _row(256_000, 32_000, media=NOTHING),
    "glm": _row(131_072, 98_304, media=NOTHING, thinking=("on", "off")),
    "glm-4.6": _row(204_800, 131_072, media=NOTHING, thinking=("on", "off")),
    "glm-4.5v": _row(65_536, 16_384, thinking=("on", "off")),
    "llama": _row(131_072, 8_192, media=NOTHING),
    "llama-4": _row(1_048_576, 8_192),
    "minimax": _row(204_800, 131_072, media=NOTHING),
}

UNKNOWN = ModelFacts(known=False)
_VERSION_DOTS = re.compile(r"(?<=claude-)(.*?)(\d)\.(\d)")


@lru_cache(maxsize=512)
def facts(model: str) -> ModelFacts:
    """What is known of a model; the defaults, marked unknown, where nothing is."""
    name = spelled(model)
    for cut in range(len(name), 0, -1):
        if (found := MODELS.get(name[:cut])) is not None:
            return found
    return UNKNOWN


def spelled(model: str) -> str:
    """A model's name in the spelling of the table: no vendor, lower case, Claude with dashes."""
    name = model.lower().removeprefix("models/").rpartition("/")[2]
    name = name.removeprefix("us.").removeprefix("anthropic.")
    if name.startswith("claude-"):
        name = _VERSION_DOTS.sub(r"\1\2-\3", name)
        name = re.sub(r"^claude-(\d)-(\d)-?(opus|sonnet|haiku)", r"claude-\1-\2-\3", name)
    return name.replace("-k2p", "-k2.")
