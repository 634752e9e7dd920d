"""How the servers that speak Chat differ in what they answer, as data."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Reasoning = Literal["", "reasoning_content", "reasoning", "details", "opaque", "chunks"]
Counting = Literal["trailing", "finish", "choice", "every", "second_finish"]


class ChatStyle(Struct, frozen=True, kw_only=True):
    """How one server writes its chunks."""

    reasoning: Reasoning = ""  # where it shows the thinking
    usage: Counting = "trailing"  # where the token counts are; trailing ones come only on request
    whole_calls: bool = False  # each call in one chunk
    calls_together: bool = False  # all calls in one chunk
    comment: str = ""  # the comment that it sends while the model is silent
    prelude: bool = False  # a chunk without choices first
    id: tuple[str, int] = ("chatcmpl-", 29)
    extra: dict[str, str] = {}


STYLES: dict[str, ChatStyle] = {
    "openai": ChatStyle(),
    "azure": ChatStyle(prelude=True),
    "mistral": ChatStyle(reasoning="chunks", usage="finish", calls_together=True, id=("", 32)),
    "kimi": ChatStyle(reasoning="reasoning_content", usage="choice"),
    "deepseek": ChatStyle(reasoning="reasoning_content", usage="finish", comment="keep-alive"),
    "qwen": ChatStyle(reasoning="reasoning_content"),
    "xai": ChatStyle(reasoning="reasoning_content", whole_calls=True),
    "groq": ChatStyle(reasoning="reasoning", usage="finish", whole_calls=True),
    "copilot": ChatStyle(reasoning="opaque", usage="every", whole_calls=True, prelude=True),
    "openrouter": ChatStyle(
        reasoning="details",
        usage="second_finish",
        comment="OPENROUTER PROCESSING",
        id=("gen-1790000000-", 20),
    ),
    "together": ChatStyle(reasoning="reasoning"),
    "fireworks": ChatStyle(reasoning="reasoning_content", usage="finish"),
    "cerebras": ChatStyle(reasoning="reasoning", usage="finish", whole_calls=True),
    "zai": ChatStyle(reasoning="reasoning_content", usage="finish", whole_calls=True),
    "ollama": ChatStyle(reasoning="reasoning", whole_calls=True, id=("chatcmpl-", 3)),
    "vllm": ChatStyle(reasoning="reasoning"),
    "llamacpp": ChatStyle(reasoning="reasoning_content"),
    "lmstudio": ChatStyle(reasoning="reasoning_content"),
    "compatible": ChatStyle(reasoning="reasoning_content"),
}


def style_of(provider: str) -> ChatStyle:
    return STYLES.get(provider, STYLES["compatible"])


FORMATS = {"claude": "anthropic-claude-v1", "gemini": "google-gemini-v1", "openai": "openai-responses-v1"}
"""OpenRouter's name for the private state of each model family."""
