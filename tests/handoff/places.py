"""Where a conversation can be handed to: every provider, with the models that differ in their rules."""

from __future__ import annotations

from turnout.providers import PROVIDERS
from turnout.targets.target import Target
from turnout.targets.target import find_target as target

MODELS: dict[str, tuple[str, ...]] = {
    "openai": ("gpt-3.5-turbo", "gpt-4o", "o3", "gpt-5", "gpt-5.1", "gpt-5.6-terra", "ft:unheard-of"),
    "openai-responses": ("gpt-4o", "o4-mini", "gpt-5.1", "gpt-5.6-terra"),
    "anthropic": (
        "claude-3-5-haiku-latest",
        "claude-sonnet-4-5",
        "claude-opus-4-6",
        "claude-opus-4-7",
        "claude-opus-4-8",
        "claude-sonnet-5",
        "claude-opus-5",
        "claude-opus-5-5",
        "claude-fable-5-1",
    ),
    "anthropic@oauth": ("claude-sonnet-4-5",),
    "gemini": (
        "gemini-2.0-flash",
        "gemini-2.5-flash",
        "gemini-2.5-pro",
        "gemini-3-pro-preview",
        "gemini-3-flash",
    ),
    "gemini@oauth": ("gemini-2.5-pro", "gemini-3-pro-preview"),
    "vertex": ("gemini-2.5-flash", "gemini-3-pro-preview", "claude-sonnet-4-5@20250929", "claude-opus-4-8"),
    "mistral": ("mistral-large-latest", "magistral-medium-latest", "codestral-latest", "labs-unheard-of"),
    "kimi": ("kimi-k2-0905-preview", "kimi-k2-thinking", "kimi-k2.5", "kimi-k3", "moonshot-v1-8k"),
    "deepseek": ("deepseek-chat", "deepseek-reasoner", "deepseek-v4-pro", "deepseek-r1"),
    "qwen": ("qwen3-max", "qwen2.5-vl-72b"),
    "xai": ("grok-4", "grok-3-mini"),
    "groq": ("llama-3.3-70b-versatile", "openai/gpt-oss-120b", "moonshotai/kimi-k2-instruct"),
    "copilot": ("gpt-4.1", "gpt-5-mini", "gpt-5.2-codex", "claude-sonnet-4.5", "gemini-3-pro"),
    "openrouter": (
        "anthropic/claude-sonnet-4.5",
        "google/gemini-3-pro-preview",
        "google/gemini-2.5-flash",
        "mistralai/mistral-large",
        "moonshotai/kimi-k2.5",
        "deepseek/deepseek-r1",
        "deepseek/deepseek-v4",
        "openai/gpt-5.1",
    ),
    "together": ("moonshotai/Kimi-K2-Thinking", "mistralai/Mixtral-8x22B", "meta-llama/Llama-3.3-70B"),
    "fireworks": ("accounts/fireworks/models/deepseek-v4", "accounts/fireworks/models/kimi-k2p5"),
    "cerebras": ("llama-3.3-70b", "gpt-oss-120b"),
    "zai": ("glm-4.6", "glm-4.5v"),
    "ollama": ("llama3.2", "mistral-small3.2", "deepseek-r1:8b", "qwen3:4b"),
    "ollama@chat": ("llama3.2", "mistral-small3.2", "deepseek-r1:8b"),
    "cohere": ("command-a-03-2025", "command-a-reasoning-08-2025", "command-r-08-2024"),
    "vllm": ("mistralai/Mistral-Small-3.2", "moonshotai/Kimi-K2-Thinking", "Qwen/Qwen3-32B"),
    "llamacpp": ("qwen3", "ministral-8b"),
    "lmstudio": ("qwen3", "gemma-3"),
    "azure": ("gpt-4o", "gpt-5.1", "o3"),
    "azure@deployments": ("gpt-4o",),
    "azure-responses": ("gpt-4o", "gpt-5.1"),
    "sambanova": ("Meta-Llama-3.3-70B-Instruct", "DeepSeek-R1-0528"),
    "bedrock": (
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-3-5-sonnet-20240620-v1:0",
        "global.anthropic.claude-opus-4-6-v1",
        "us.anthropic.claude-sonnet-5",
        "us.amazon.nova-2-lite-v1:0",
        "amazon.nova-micro-v1:0",
        "us.meta.llama4-maverick-17b-instruct-v1:0",
        "mistral.mistral-large-2407-v1:0",
        "openai.gpt-oss-120b-1:0",
        "arn:aws:bedrock:us-east-1:012345678901:application-inference-profile/abc123",
    ),
    "bedrock@invoke": ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-opus-4-6-v1"),
    "compatible": ("anything", "some-mistral-finetune", "deepseek-v4"),
}
PLACES: tuple[Target, ...] = tuple(
    target(f"{provider}:{model}") for provider, models in MODELS.items() for model in models
)
ONE_EACH: tuple[Target, ...] = tuple(
    target(f"{provider}:{models[0]}") for provider, models in MODELS.items() if "@" not in provider
)
THINKING: tuple[bool | None, ...] = (None, True, False)

assert {place.provider.name for place in PLACES} == set(PROVIDERS)
