"""All names of an API, and the checker for each.

A provider's name and its format's name mean the same. Separators and case do not matter,
and a target (`provider:model`, `provider@endpoint:model`) names the model too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from ...errors import UsageError
from ..protocol import PROTOCOLS, find_protocol
from . import models
from .anthropic import rules as anthropic
from .anthropic import vertex as vertex_claude
from .chat import deepseek, hosts, kimi, local, mistral
from .chat.hosts import Violations, checker
from .chat.view import array, mapping, text
from .cohere import rules as cohere
from .converse import invoke as bedrock_invoke
from .converse import rules as converse
from .gemini import rules as gemini
from .ollama import rules as ollama
from .responses import rules as responses

CHECKERS: dict[str, Violations] = {
    "openai": hosts.openai,
    "azure": hosts.openai,
    "azure-responses": responses.violations,
    "openai-responses": responses.violations,
    "anthropic": anthropic.violations,
    "gemini": gemini.violations,
    "vertex": gemini.violations,
    "bedrock": converse.violations,
    "bedrock-invoke": bedrock_invoke.violations,
    "mistral": mistral.violations,
    "kimi": kimi.violations,
    "deepseek": deepseek.violations,
    "qwen": checker(hosts.QWEN),
    "xai": checker(hosts.XAI),
    "groq": checker(hosts.GROQ),
    "copilot": checker(hosts.COPILOT),
    "openrouter": checker(hosts.OPENROUTER),
    "together": checker(hosts.OPEN_MODELS),
    "fireworks": checker(hosts.OPEN_MODELS),
    "cerebras": checker(hosts.OPEN_MODELS),
    "zai": checker(hosts.OPEN_MODELS),
    "sambanova": checker(hosts.OPEN_MODELS),
    "doubleword": checker(hosts.DOUBLEWORD),
    "ollama": local.ollama,
    "ollama-native": ollama.violations,
    "cohere": cohere.violations,
    "vllm": local.vllm,
    "llamacpp": checker(local.LLAMACPP),
    "lmstudio": checker(local.LM_STUDIO),
    "openai-compatible": checker(hosts.COMPATIBLE),
}

ALIASES: dict[str, tuple[str, ...]] = {
    "openai": ("chat", "openai-chat", "chat-completions", "openai-chat-completions", "openai-completions"),
    "azure": ("azure-openai",),
    "azure-responses": ("azure-openai-responses",),
    "openai-responses": ("responses", "openai-response", "codex", "chatgpt"),
    "anthropic": ("anthropic-messages", "messages", "claude"),
    "gemini": ("google", "gemini-generate-content", "generate-content", "google-gemini", "google-genai"),
    "vertex": ("vertexai", "vertex-ai", "google-vertex", "gemini-vertex", "vertex-gemini", "code-assist"),
    "bedrock": ("bedrock-converse", "amazon-bedrock", "aws-bedrock", "aws", "converse"),
    "bedrock-invoke": ("invoke", "bedrock-anthropic", "invoke-model"),
    "mistral": ("mistralai", "mistral-chat"),
    "kimi": ("moonshot", "moonshotai", "moonshot-kimi", "kimi-chat"),
    "deepseek": ("deepseek-chat",),
    "qwen": ("dashscope", "alibaba", "qwen-dashscope", "aliyun"),
    "xai": ("x-ai", "grok"),
    "copilot": ("github-copilot",),
    "together": ("togetherai", "together-ai"),
    "fireworks": ("fireworks-ai", "fireworksai"),
    "zai": ("z-ai", "zhipu", "zhipuai", "glm", "bigmodel"),
    "llamacpp": ("llama-cpp", "llama-server"),
    "cohere": ("cohere-v2", "cohere-chat"),
    "lmstudio": ("lm-studio",),
    "openai-compatible": (
        "compatible",
        "custom",
        "openai-compat",
        "local",
        "gateway",
        "baseten",
        "cloudflare",
        "databricks",
        "deepinfra",
        "gpustack",
        "huggingface",
        "litellm",
        "minimax",
        "mistralrs",
        "nebius",
        "nvidia",
        "perplexity",
        "portkey",
        "pydantic-gateway",
        "sglang",
        "siliconflow",
        "snowflake",
        "venice",
        "vercel",
        "vercel-gateway",
        "vercel-ai-gateway",
        "writer",
    ),
}

NAMES: dict[str, str] = {
    **{name: name for name in CHECKERS},
    **{alias: name for name, aliases in ALIASES.items() for alias in aliases},
}


def resolve_api(api: str) -> tuple[str, str]:
    """The checker's name and the model, "" if `api` names none. An unknown name is a UsageError."""
    if not isinstance(api, str):
        raise UsageError(f"{api!r} is not the name of an API; give the name of a provider or of a format")
    written, _, model = api.partition(":")
    name = _fold_name(written.partition("@")[0])  # an endpoint has the rules of its provider
    if found := NAMES.get(name):
        return found, model
    if name in PROTOCOLS:
        return name, model
    if name == "icontent":
        raise UsageError("icontent is the form of stored histories, not an API; render it and check the body")
    near = get_close_matches(name, NAMES, n=3, cutoff=0.5)
    known = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(CHECKERS))}"
    raise UsageError(f"no API is called {written!r}; use the name of a provider or format: {known}")


def _fold_name(name: str) -> str:
    return re.sub(r"[\s_.\-/]+", "-", name.strip().lower()).strip("-")


def format_of(name: str, body: Mapping[str, Any]) -> tuple[str, str]:
    """The format of a body as `render` names it, and the provider that it is for."""
    judge = checker_for(name, body)
    provider = "compatible" if name == "openai-compatible" else name
    if judge in (responses.violations, deepseek.responses_violations):
        return "openai-responses", "openai-responses" if name == "openai" else provider
    if judge is vertex_claude.violations:
        return "anthropic", "vertex"
    if judge is bedrock_invoke.violations:
        return "anthropic", "bedrock@invoke"
    if judge is ollama.violations:
        return "ollama", "ollama"
    if name == "bedrock" and judge is not converse.violations:
        return "openai", "bedrock@openai"
    return ("anthropic", "anthropic") if judge is anthropic.violations else (provider, provider)


def checker_for(name: str, body: Mapping[str, Any]) -> Violations:
    """The checker of a body. Its shape decides if one provider serves several formats."""
    if _is_for_responses(body) and name not in ("anthropic", "gemini", "vertex", "bedrock-invoke"):
        return deepseek.responses_violations if name == "deepseek" else responses.violations
    if name == "vertex" and "messages" in body and "contents" not in body:
        return vertex_claude.violations  # Claude on Vertex takes Anthropic's body
    if name == "bedrock" and "anthropic_version" in body:
        return bedrock_invoke.violations
    if name == "bedrock" and "model" in body:  # Converse has it in the path; Bedrock serves Chat too
        return CHECKERS["openai-compatible"]
    return CHECKERS[name] if name in CHECKERS else _checker_of_protocol(name)


def _checker_of_protocol(name: str) -> Violations:
    """The rules of a protocol that is not in the tables."""
    checker = find_protocol(name).checker
    if checker is None:
        raise UsageError(f"the protocol {name} has no rules to check by; name a provider instead")
    return lambda body, *, model: checker(body, model)


def _is_for_responses(body: Mapping[str, Any]) -> bool:
    """Recorded: a stored `prompt` and no `input`, status 200. A text `prompt` belongs to Completions."""
    stored = isinstance(body.get("prompt"), Mapping)
    return "messages" not in body and (stored or "input" in body or "previous_response_id" in body)


def likely_api(body: Any) -> str:
    """The likely API of a request, by its shape and the model's name; "" if it is not a request."""
    value = mapping(body)
    if isinstance(value.get("headers"), Mapping) and "body" in value:
        return likely_api(value["body"])
    if "contents" in value:
        return "gemini"
    if _is_for_responses(value):
        return "openai-responses"
    messages = body if isinstance(body, list) else value.get("messages")
    if not array(messages) or not all(text(mapping(message).get("role")) for message in array(messages)):
        return ""
    if value.get("anthropic_version") == bedrock_invoke.VERSION:
        return "bedrock-invoke"
    if _looks_like_converse(value, array(messages)):
        return "bedrock"
    return "anthropic" if _looks_like_anthropic(value, array(messages)) else _chat_api(value)


def _looks_like_converse(body: Mapping[str, Any], messages: Sequence[Any]) -> bool:
    """Only Converse has blocks of one key, and these fields."""
    blocks = [mapping(block) for message in messages for block in array(mapping(message).get("content"))]
    if any("type" in block for block in blocks) or not all(len(block) == 1 for block in blocks):
        return False
    fields = ("inferenceConfig", "toolConfig", "modelId", "additionalModelRequestFields")
    kinds = ("toolUse", "toolResult", "reasoningContent", "cachePoint")
    return any(name in body for name in fields) or any(kind in block for block in blocks for kind in kinds)


def _looks_like_anthropic(body: Mapping[str, Any], messages: Sequence[Any]) -> bool:
    """Only Anthropic writes its blocks and tools like this."""
    blocks = [mapping(block) for message in messages for block in array(mapping(message).get("content"))]
    if any(block.get("type") in ("tool_use", "tool_result", "thinking") for block in blocks):
        return True
    first = next(map(mapping, array(body.get("tools"))), {})
    return "system" in body or "input_schema" in first or text(body.get("model")).startswith("claude")


def _chat_api(body: Mapping[str, Any]) -> str:
    """The maker of the model, if it serves Chat itself. A vendor before the name is from a gateway."""
    name = text(body.get("model"))
    found = models.family(name)
    return found if found in CHECKERS and found != "gemini" and "/" not in name else "openai"
