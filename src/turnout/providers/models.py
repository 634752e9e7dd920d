"""What families of models can do, as data: longest prefix of the model's name wins.

Windows, prices and ends of single models are in the catalogue; `known_facts` puts both together.

Hosts write the same model in many ways (`anthropic/claude-sonnet-4.5`), so names are
normalized before they are looked up.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ..wire.request import ModelFacts

IMAGE = ("image/png", "image/jpeg", "image/webp", "image/gif")
DOCUMENTS = (*IMAGE, "application/pdf")
CLAUDE = (*IMAGE, "application/pdf", "text/plain")
GEMINI_IMAGE = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
EVERYTHING = (*GEMINI_IMAGE, "audio/", "video/", "application/pdf", "text/")
AUDIO = ("audio/",)
OTHER_MEDIA = ("audio/", "video/", "application/", "text/")  # what an unknown model may read besides images
NOTHING: tuple[str, ...] = ()

CLASSIC = ("low", "medium", "high")
GPT_5 = ("minimal", "low", "medium", "high")
GPT_51 = ("none", "low", "medium", "high")
GPT_52 = ("none", "low", "medium", "high", "xhigh")
CLAUDE_EFFORTS = ("low", "medium", "high", "max")
CLAUDE_5_EFFORTS = ("low", "medium", "high", "xhigh", "max")


def _facts_row(context: int, output: int, **facts: Any) -> ModelFacts:
    return ModelFacts(context=context, output=output, **facts)


def _gpt_facts(context: int, output: int, efforts: tuple[str, ...], **facts: Any) -> ModelFacts:
    facts = {"media": DOCUMENTS, "thinking": ("effort",), "sampling": False, **facts}
    return ModelFacts(context=context, output=output, efforts=efforts, **facts)


def _claude_facts(output: int, *thinking: str, **facts: Any) -> ModelFacts:
    return ModelFacts(context=200_000, output=output, thinking=thinking, media=CLAUDE, **facts)


def _gemini_facts(output: int, *thinking: str, **facts: Any) -> ModelFacts:
    return ModelFacts(context=1_048_576, output=output, thinking=thinking, media=EVERYTHING, **facts)


MODELS: dict[str, ModelFacts] = {
    # OpenAI
    "gpt-3.5": _facts_row(16_385, 4_096, media=NOTHING),
    "gpt-4": _facts_row(8_192, 8_192, media=NOTHING),
    "gpt-4-turbo": _facts_row(128_000, 4_096),
    "gpt-4o": _facts_row(128_000, 16_384, media=DOCUMENTS),
    "gpt-4o-audio": _facts_row(128_000, 16_384, media=AUDIO),
    "gpt-4o-mini-audio": _facts_row(128_000, 16_384, media=AUDIO),
    "gpt-audio": _facts_row(128_000, 16_384, media=AUDIO),
    "gpt-4.1": _facts_row(1_047_576, 32_768, media=DOCUMENTS),
    "gpt-4.5": _facts_row(128_000, 16_384, media=DOCUMENTS),
    "o1": _gpt_facts(200_000, 100_000, CLASSIC),
    "o1-mini": _gpt_facts(128_000, 65_536, (), media=NOTHING, tools=False),
    "o1-preview": _gpt_facts(128_000, 32_768, (), media=NOTHING, tools=False),
    "o3": _gpt_facts(200_000, 100_000, CLASSIC),
    "o3-mini": _gpt_facts(200_000, 100_000, CLASSIC, media=NOTHING),
    "o4-mini": _gpt_facts(200_000, 100_000, CLASSIC),
    "gpt-5": _gpt_facts(400_000, 128_000, GPT_5, verbosity=True),
    "gpt-5-chat": _facts_row(128_000, 16_384, media=DOCUMENTS),
    "gpt-5-codex": _gpt_facts(400_000, 128_000, CLASSIC),
    "gpt-5-pro": _gpt_facts(400_000, 272_000, ("high",), verbosity=True),
    "gpt-5.1": _gpt_facts(400_000, 128_000, GPT_51, verbosity=True),
    "gpt-5.1-chat": _gpt_facts(128_000, 16_384, ("medium",)),
    "gpt-5.2": _gpt_facts(400_000, 128_000, GPT_52, verbosity=True),
    "gpt-5.3": _gpt_facts(400_000, 128_000, GPT_52, verbosity=True),
    "gpt-5.4": _gpt_facts(1_050_000, 128_000, GPT_52, chat_tools="no_reasoning", verbosity=True),
    "gpt-5.5": _gpt_facts(1_050_000, 128_000, GPT_52, chat_tools="no_reasoning", verbosity=True),
    "gpt-5.6": _gpt_facts(1_050_000, 128_000, GPT_52, chat_tools="no_reasoning", verbosity=True),
    # A later model of the family: as the latest that is known.
    "gpt": _gpt_facts(1_050_000, 128_000, GPT_52, chat_tools="no_reasoning", verbosity=True),
    "gpt-realtime": _facts_row(128_000, 4_096, media=AUDIO),
    "gpt-oss": _facts_row(131_072, 32_768, media=NOTHING, thinking=("effort",), efforts=CLASSIC),
    # Anthropic
    "claude": _claude_facts(8_192),
    "claude-3": _claude_facts(4_096),
    "claude-3-5": _claude_facts(8_192),
    "claude-3-7": _claude_facts(64_000, "manual", "off"),
    "claude-opus-4": _claude_facts(32_000, "manual", "off"),
    "claude-sonnet-4": _claude_facts(64_000, "manual", "off"),
    "claude-haiku-4-5": _claude_facts(64_000, "manual", "off"),
    "claude-opus-4-5": _claude_facts(64_000, "manual", "off", efforts=CLASSIC),
    "claude-opus-4-6": _claude_facts(128_000, "adaptive", "manual", "off", efforts=CLAUDE_EFFORTS),
    "claude-sonnet-4-6": _claude_facts(64_000, "adaptive", "manual", "off", efforts=CLAUDE_EFFORTS),
    "claude-haiku-4-6": _claude_facts(64_000, "adaptive", "manual", "off", efforts=CLAUDE_EFFORTS),
    "claude-opus-4-7": _claude_facts(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-sonnet-4-7": _claude_facts(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-opus-4-8": _claude_facts(
        128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False, system_turns=True
    ),
    "claude-sonnet-4-8": _claude_facts(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-sonnet-5": _claude_facts(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-haiku-5": _claude_facts(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-opus-5": _claude_facts(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, system_turns=True
    ),
    "claude-opus-5-5": _claude_facts(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, forced_tools=False, system_turns=True
    ),
    "claude-fable": _claude_facts(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, system_turns=True
    ),
    "claude-fable-5-1": _claude_facts(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, forced_tools=False, system_turns=True
    ),
    "claude-mythos": _claude_facts(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, system_turns=True
    ),
    # Later models of a family: as the latest that is known. The third generation had these names too.
    "claude-sonnet": _claude_facts(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-haiku": _claude_facts(128_000, "adaptive", "off", efforts=CLAUDE_5_EFFORTS, sampling=False),
    "claude-opus": _claude_facts(
        128_000, "adaptive", efforts=CLAUDE_5_EFFORTS, sampling=False, forced_tools=False, system_turns=True
    ),
    "claude-sonnet-3": _claude_facts(8_192),
    "claude-sonnet-3-7": _claude_facts(64_000, "manual", "off"),
    "claude-haiku-3": _claude_facts(4_096),
    "claude-opus-3": _claude_facts(4_096),
    # Google
    "gemini": _gemini_facts(8_192),
    "gemini-2.0": _gemini_facts(8_192),
    "gemini-2.5-pro": _gemini_facts(65_536, "budget"),
    "gemini-2.5-flash": _gemini_facts(65_536, "budget", "off"),
    "gemini-3": _gemini_facts(65_536, "level", efforts=CLASSIC, signatures=True),
    "gemini-3-pro": _gemini_facts(65_536, "level", efforts=("low", "high"), signatures=True),
    "gemini-3-flash": _gemini_facts(65_536, "level", efforts=GPT_5, signatures=True),
    "gemini-4": _gemini_facts(65_536, "level", efforts=CLASSIC, signatures=True),
    "gemma": _facts_row(131_072, 8_192),
    # Mistral
    "mistral-large": _facts_row(256_000, 32_768),
    "mistral-medium": _facts_row(128_000, 32_768),
    "mistral-small": _facts_row(128_000, 32_768),
    "mistral-tiny": _facts_row(32_000, 8_192, media=NOTHING),
    "open-mistral": _facts_row(128_000, 8_192, media=NOTHING),
    "open-mixtral": _facts_row(64_000, 8_192, media=NOTHING),
    "ministral": _facts_row(128_000, 8_192),
    "pixtral": _facts_row(128_000, 8_192),
    "codestral": _facts_row(256_000, 8_192, media=NOTHING),
    "devstral": _facts_row(256_000, 32_768, media=NOTHING),
    "magistral": _facts_row(128_000, 40_000, thinking=("always",)),
    # Moonshot
    "kimi": _facts_row(131_072, 32_768, media=NOTHING),
    "kimi-k2": _facts_row(262_144, 32_768, media=NOTHING),
    "kimi-k2-thinking": _facts_row(262_144, 65_536, media=NOTHING, thinking=("always",)),
    "kimi-k2.5": _facts_row(262_144, 65_536, thinking=("on", "off")),
    "kimi-k2.6": _facts_row(262_144, 65_536, thinking=("on", "off")),
    "kimi-k2.7": _facts_row(262_144, 65_536, thinking=("always",)),
    "kimi-k3": _facts_row(1_048_576, 131_072, thinking=("always",)),
    "moonshot-v1": _facts_row(131_072, 8_192, media=NOTHING),
    # DeepSeek
    "deepseek": _facts_row(131_072, 8_192, media=NOTHING),
    "deepseek-reasoner": _facts_row(131_072, 65_536, media=NOTHING, thinking=("always",), sampling=True),
    "deepseek-v4": _facts_row(1_048_576, 131_072, media=NOTHING, thinking=("on", "off")),
    "deepseek-r1": _facts_row(131_072, 32_768, media=NOTHING, thinking=("always",)),
    # Amazon
    "nova": _facts_row(300_000, 10_000),
    "nova-micro": _facts_row(128_000, 10_000, media=NOTHING),
    "nova-premier": _facts_row(1_000_000, 32_000),
    "nova-2": _facts_row(1_000_000, 65_535, thinking=("effort",), efforts=CLASSIC),
    # Others
    "qwen": _facts_row(131_072, 16_384, media=NOTHING, thinking=("on", "off")),
    "qwen-vl": _facts_row(131_072, 16_384, thinking=("on", "off")),
    "qwen2.5": _facts_row(131_072, 8_192, media=NOTHING),
    "qwen2.5-vl": _facts_row(131_072, 8_192),
    "qwen3": _facts_row(262_144, 32_768, media=NOTHING, thinking=("on", "off")),
    "qwen3-vl": _facts_row(262_144, 32_768, thinking=("on", "off")),
    "grok": _facts_row(131_072, 16_384, media=NOTHING),
    "grok-2-vision": _facts_row(32_768, 8_192),
    "grok-3-mini": _facts_row(131_072, 16_384, media=NOTHING, thinking=("effort",), efforts=("low", "high")),
    "grok-4": _facts_row(256_000, 64_000),
    "grok-code": _facts_row(256_000, 32_000, media=NOTHING),
    "glm": _facts_row(131_072, 98_304, media=NOTHING, thinking=("on", "off")),
    "glm-4.6": _facts_row(204_800, 131_072, media=NOTHING, thinking=("on", "off")),
    "glm-4.5v": _facts_row(65_536, 16_384, thinking=("on", "off")),
    "llama": _facts_row(131_072, 8_192, media=NOTHING),
    "llama-4": _facts_row(1_048_576, 8_192),
    "minimax": _facts_row(204_800, 131_072, media=NOTHING),
    "command": _facts_row(4_096, 4_096, media=NOTHING),  # and command-light; deprecated in September 2025
    "command-r": _facts_row(128_000, 4_096, media=NOTHING),
    "command-r7b": _facts_row(128_000, 4_096, media=NOTHING),
    "command-a": _facts_row(256_000, 8_000, media=NOTHING),
    "command-a-reasoning": _facts_row(256_000, 32_000, media=NOTHING, thinking=("on", "off")),
    "command-a-vision": _facts_row(128_000, 8_000),
}

UNKNOWN = ModelFacts(known=False)
# Bedrock writes the part of the world and the maker before a name: us.anthropic.claude-…, amazon.nova-…
_BEDROCK_HEAD = re.compile(
    r"^(?:(?:global|us|us-gov|eu|apac|jp|au|ca|sa|me|af|il|uk)\.)?"
    r"(?:(?:anthropic|amazon|meta|mistral|ai21|cohere|deepseek|openai|qwen|minimax|moonshotai?|writer|google"
    r"|nvidia|zai|twelvelabs|stability)\.(?=[a-z]))?"
)
_VERSION_DOTS = re.compile(r"(?<=claude-)(.*?)(\d)\.(\d)")


@lru_cache(maxsize=512)
def facts(model: str) -> ModelFacts:
    """The facts of a model; for an unknown model the defaults, marked as unknown."""
    return MODELS.get(family_name(model), UNKNOWN)


def family_name(model: str) -> str:
    """The longest name in the table that the model's begins with; "" where there is none."""
    name = normalize_model_name(model)
    return next((name[:cut] for cut in range(len(name), 0, -1) if name[:cut] in MODELS), "")


def normalize_model_name(model: str) -> str:
    """A model's name in the spelling of the table: no vendor, lower case, Claude with dashes."""
    name = model.lower().removeprefix("models/").rpartition("/")[2]
    name = _BEDROCK_HEAD.sub("", name)
    if name.startswith("claude-"):
        name = _VERSION_DOTS.sub(r"\1\2-\3", name)
        name = re.sub(r"^claude-(\d)-(\d)-?(opus|sonnet|haiku)", r"claude-\1-\2-\3", name)
    return name.replace("-k2p", "-k2.")
