"""One target for every way of answering, and the protocol it answers in."""

from __future__ import annotations

from typing import Any

from turnout.model import ModelTurn
from turnout.simulate.provider_ids import Mint, Seal
from turnout.simulate.script import Reply
from turnout.simulate.speaker import Speaker
from turnout.simulate.stream_arrival import play_stream
from turnout.targets.reply import decode
from turnout.targets.target import find_target as target
from turnout.wire.protocol import find_protocol
from turnout.wire.shared.body import encode

TARGETS: dict[str, str] = {
    "openai:gpt-4o": "chat",
    "azure:gpt-4o": "chat",
    "mistral:magistral-medium-latest": "chat",
    "kimi:kimi-k2.6": "chat",
    "deepseek:deepseek-v4-pro": "chat",
    "qwen:qwen3-max": "chat",
    "xai:grok-4": "chat",
    "groq:llama-3.3-70b": "chat",
    "zai:glm-5": "chat",
    "copilot:claude-sonnet-4": "chat",
    "openrouter:anthropic/claude-sonnet-4.5": "chat",
    "openrouter:google/gemini-3-pro": "chat",
    "openrouter:openai/gpt-5": "chat",
    "openrouter:moonshotai/kimi-k2.6": "chat",
    "together:meta-llama/Llama-3.3": "chat",
    "fireworks:qwen3": "chat",
    "cerebras:gpt-oss-120b": "chat",
    "ollama:qwen3": "ollama",
    "ollama@chat:qwen3": "chat",
    "cohere:command-a-reasoning-08-2025": "cohere",
    "vllm:qwen3": "chat",
    "llamacpp:qwen3": "chat",
    "lmstudio:qwen3": "chat",
    "compatible:some-model": "chat",
    "openai-responses:gpt-5.1": "responses",
    "copilot:gpt-5.3-codex": "responses",
    "anthropic:claude-sonnet-4-5": "anthropic",
    "anthropic:claude-opus-4-8": "anthropic",
    "gemini:gemini-3-pro-preview": "gemini",
    "gemini:gemini-2.5-pro": "gemini",
    "vertex:gemini-2.5-flash": "gemini",
    "vertex:claude-sonnet-4-5@20250929": "anthropic",
    "azure@deployments:gpt-4o": "chat",
    "azure-responses:gpt-5.1": "responses",
    "sambanova:Meta-Llama-3.3-70B-Instruct": "chat",
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0": "converse",
    "bedrock:us.amazon.nova-2-lite-v1:0": "converse",
    "bedrock@invoke:us.anthropic.claude-sonnet-4-5-20250929-v1:0": "invoke",
}

HIDES_THINKING = ("openai:gpt-4o", "azure:gpt-4o", "azure@deployments:gpt-4o")


def speaker(name: str) -> Speaker:
    place = target(name)
    return Speaker(place.provider.name, place.model, Mint(name), Seal(name))


def sent(name: str, reply: Reply, *, streamed: bool, protocol: str = "") -> bytes:
    """The reply as this target's bytes."""
    who, form = speaker(name), protocol or TARGETS[name]
    encoder = find_protocol(form).reply
    held = encoder.whole(reply, who, None)
    if not streamed:
        return encode(encoder.body(held))
    stream = encoder.stream(held, who, reply.odd)
    return b"".join(
        piece for piece in play_stream(stream, reply.faults, reply.odd) if isinstance(piece, bytes)
    )


def heard(name: str, reply: Reply, *, streamed: bool, protocol: str = "") -> ModelTurn:
    """What comes of those bytes."""
    return decode(name, sent(name, reply, streamed=streamed, protocol=protocol))


def calls(said: Any) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of the calls of a reply or a turn."""
    listed = said.tool_calls if isinstance(said, ModelTurn) else said.calls
    return [(call.name, call.arguments) for call in listed]
