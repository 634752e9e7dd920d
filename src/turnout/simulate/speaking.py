"""A reply in any protocol's words: as one body, or as the events of a stream."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from . import reply_anthropic, reply_chat, reply_gemini, reply_ollama, reply_responses
from .framing import Stream
from .script import Reply
from .speaker import Speaker

Protocol = Literal["chat", "responses", "anthropic", "gemini", "ollama"]
Wire = dict[str, Any]


def whole(protocol: Protocol, reply: Reply, speaker: Speaker, request: Wire | None = None) -> Wire:
    """The reply as the provider itself would hold it; `body` and `stream` send it."""
    match protocol:
        case "chat":
            return reply_chat.whole(reply, speaker)
        case "responses":
            return reply_responses.whole(reply, speaker, request)
        case "anthropic":
            return reply_anthropic.whole(reply, speaker)
        case "gemini":
            return reply_gemini.whole(reply, speaker)
        case "ollama":
            return reply_ollama.whole(reply, speaker)


def body(protocol: Protocol, said: Wire) -> Wire:
    """What is sent when no stream was asked for."""
    return reply_anthropic.body(said) if protocol == "anthropic" else said


def stream(protocol: Protocol, said: Wire, speaker: Speaker, odd: Collection[str] = ()) -> Stream:
    """The same as events."""
    match protocol:
        case "chat":
            return reply_chat.stream(said, speaker, odd)
        case "responses":
            rotates = "rotating_ids" in odd or speaker.provider == "copilot"
            return reply_responses.stream(said, odd, speaker if rotates else None)
        case "anthropic":
            return reply_anthropic.stream(said, odd)
        case "gemini":
            return reply_gemini.stream(said, odd)
        case "ollama":
            return reply_ollama.stream(said, odd)
