"""The formats by name: how each family writes a conversation, and its default provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from ...errors import UsageError
from ..api_names import fold_name, unspoken_name
from . import anthropic, chat, gemini, icontent, responses
from .message_parts import Heard, ReadContext, text_of
from .tools import FIELDS as TOOL_FIELDS

Reader = Callable[[dict[str, Any], ReadContext], Iterator[Heard]]


class Format(Struct, frozen=True):
    """How one family writes a conversation."""

    name: str
    lists: tuple[str, ...]  # the fields in which a body may hold the messages
    read: Reader
    system: Callable[[dict[str, Any]], Any]
    api: str = "chat"  # the protocol whose declarations and options its bodies hold
    unit: str = "part"

    heads: tuple[str, ...] = ()  # other fields of a body that belong to the history

    @property
    def fields(self) -> frozenset[str]:
        """The fields of a body that belong to the history."""
        return frozenset((*self.lists, *self.heads, *TOOL_FIELDS))


CHAT = Format("openai-chat", ("messages",), chat.read_chat_message, chat.system_field)
RESPONSES = Format(
    "openai-responses",
    ("input",),
    responses.read_responses_item,
    responses.system_field,
    api="responses",
    heads=("instructions", "previous_response_id", "conversation"),
)
ANTHROPIC = Format(
    "anthropic",
    ("messages",),
    anthropic.read,
    anthropic.system_field,
    api="anthropic",
    unit="block",
    heads=("system",),
)
GEMINI = Format(
    "gemini",
    ("contents",),
    gemini.read_gemini_content,
    gemini.system_field,
    api="gemini",
    heads=("systemInstruction", "system_instruction", "config"),
)
CONVERSE = Format(
    "bedrock-converse",
    ("messages",),
    chat.read_chat_message,
    anthropic.system_field,
    api="converse",
    unit="block",
    heads=("system",),
)
INVOKE = Format(
    "bedrock-invoke",
    ("messages",),
    anthropic.read,
    anthropic.system_field,
    api="invoke",
    unit="block",
    heads=("system",),
)
ICONTENT = Format(
    "icontent",
    ("contents", "history", "messages"),
    icontent.read_icontent,
    icontent.system_field,
    api="",
    heads=("system",),
)

OLLAMA = Format("ollama", ("messages",), chat.read_chat_message, chat.system_field, api="ollama")
COHERE = Format("cohere", ("messages",), chat.read_chat_message, chat.system_field, api="cohere")

FORMATS = (CHAT, RESPONSES, ANTHROPIC, GEMINI, CONVERSE, INVOKE, ICONTENT, OLLAMA, COHERE)

CHAT_PROVIDERS = (
    "openai = openai-chat, chat, chat-completions, openai-chat-completions, openai-completions",
    "azure = azure-openai",
    "copilot = github-copilot",
    "kimi = moonshot, moonshotai, moonshot-kimi, kimi-chat",
    "llamacpp = llama-cpp, llama-server",
    "lmstudio = lm-studio",
    "compatible = openai-compatible, openai-compat, custom, local, gateway",
    "mistral = mistralai, mistral-chat",
    "qwen = dashscope, alibaba, qwen-dashscope, aliyun",
    "together = togetherai, together-ai",
    "xai = grok, x-ai",
    "zai = z-ai, zhipu, zhipuai, glm, bigmodel",
    "deepseek = deepseek-chat",
    "fireworks = fireworks-ai, fireworksai",
    "vercel = vercel-gateway, vercel-ai-gateway",
    *("baseten", "cerebras", "cloudflare", "databricks", "deepinfra", "doubleword", "gpustack", "groq"),
    *("huggingface", "litellm", "minimax", "mistralrs", "nebius", "nvidia", "openrouter"),
    *("perplexity", "portkey", "pydantic-gateway", "sambanova", "sglang", "siliconflow", "snowflake"),
    *("venice", "vllm", "writer"),
)
"""The providers that use Chat, with their other names. A name stands for the format and the provider."""


def _names_of(form: Format, *providers: str) -> dict[str, tuple[Format, str]]:
    names: dict[str, tuple[Format, str]] = {}
    for line in providers:
        provider, *others = (name.strip() for name in line.replace("=", ",").split(","))
        names |= dict.fromkeys([provider, *others], (form, provider))
    return names


NAMES = {
    **_names_of(CHAT, *CHAT_PROVIDERS),
    **_names_of(
        RESPONSES,
        "openai-responses = responses, openai-response, codex, chatgpt",
        "azure-responses = azure-openai-responses",
    ),
    **_names_of(ANTHROPIC, "anthropic = claude, anthropic-messages, messages"),
    **_names_of(
        GEMINI,
        "gemini = google, gemini-generate-content, generate-content, google-gemini, google-genai",
        "vertex = vertexai, vertex-ai, google-vertex, gemini-vertex, vertex-gemini, code-assist",
    ),
    **_names_of(OLLAMA, "ollama = ollama-native"),
    "ollama-chat": (CHAT, "ollama"),
    **_names_of(COHERE, "cohere = cohere-v2, cohere-chat"),
    **_names_of(CONVERSE, "bedrock = bedrock-converse, amazon-bedrock, aws-bedrock, aws, converse"),
    **_names_of(INVOKE, "bedrock@invoke = bedrock-invoke, invoke, invoke-model, bedrock-anthropic"),
    "icontent": (ICONTENT, "unknown"),  # each content names its origin
}


def find_format(name: str) -> tuple[Format, str]:
    """The format of that name, and the provider it stands for."""
    wanted = fold_name(name) if isinstance(name, str) else ""
    if wanted and (found := NAMES.get(wanted)) is not None:
        return found
    if why := unspoken_name(wanted):
        raise UsageError(f"{name!r} is not a message format that can be read: {why}; use that name")
    known = ", ".join(form.name for form in FORMATS)
    raise UsageError(f"{name!r} is not a message format; use one of {known}, or the name of a provider")


def reader_of(message: dict[str, Any], form: Format) -> Reader:
    """The reader of the named format, unless the message clearly has the shape of another."""
    has = message.keys()
    if "speaker" in has or "blocks" in has:
        return icontent.read_icontent
    if "parts" in has and "content" not in has:
        return gemini.read_gemini_content
    if form is RESPONSES or ("role" not in has and text_of(message.get("type")) in responses.KINDS):
        return responses.read_responses_item
    if "role" in has and ("content" in has or "tool_calls" in has):
        return chat.read_chat_message
    return form.read
