"""Every provider, with a model or two that differ in what the laws are about."""

from __future__ import annotations

from turnout.providers import PROVIDERS
from turnout.targets.target import Target
from turnout.targets.target import find_target as target

NAMES = (
    "openai:gpt-4o",
    "openai:gpt-5.1",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "anthropic:claude-opus-4-8",
    "gemini:gemini-2.5-flash",
    "gemini:gemini-3-pro",
    "gemini@oauth:gemini-3-pro",
    "vertex:gemini-3-pro",
    "vertex:claude-sonnet-4-5@20250929",
    "azure-responses:gpt-5.1",
    "sambanova:Meta-Llama-3.3-70B-Instruct",
    "mistral:mistral-large-latest",
    "mistral:magistral-medium-latest",
    "kimi:kimi-k2-thinking",
    "kimi:kimi-k2-0905-preview",
    "deepseek:deepseek-chat",
    "deepseek:deepseek-reasoner",
    "qwen:qwen3-max",
    "xai:grok-4",
    "groq:llama-3.3-70b-versatile",
    "copilot:gpt-4.1",
    "copilot:gpt-5.2-codex",
    "openrouter:anthropic/claude-sonnet-4.5",
    "openrouter:google/gemini-3-pro-preview",
    "openrouter:mistralai/mistral-large",
    "together:moonshotai/Kimi-K2-Thinking",
    "fireworks:accounts/fireworks/models/deepseek-v4",
    "cerebras:llama-3.3-70b",
    "zai:glm-4.6",
    "ollama:llama3.2",
    "ollama@chat:llama3.2",
    "cohere:command-a-03-2025",
    "vllm:mistralai/Mistral-Small-3.2",
    "llamacpp:qwen3",
    "lmstudio:qwen3",
    "azure:gpt-5.1",
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "bedrock:us.amazon.nova-2-lite-v1:0",
    "bedrock:mistral.mistral-large-2407-v1:0",
    "bedrock@invoke:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "compatible:anything",
)
TARGETS: tuple[Target, ...] = tuple(target(name) for name in NAMES)

assert {place.provider.name for place in TARGETS} == set(PROVIDERS)
