"""Names of APIs as people write them, and the APIs that turnout does not speak, each with the way on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

INTERACTIONS = (
    "this is Gemini's Interactions API, which turnout does not speak; use generateContent: "
    "the format and provider are called 'gemini'"
)
COHERE_V1 = (
    "this is version 1 of Cohere's Chat, which turnout does not speak; use version 2 (/v2/chat): "
    "the format and provider are called 'cohere'"
)
NAMES = {
    **dict.fromkeys(("gemini-interactions", "interactions", "google-interactions"), INTERACTIONS),
    **dict.fromkeys(("cohere-v1", "cohere-chat-v1", "cohere1"), COHERE_V1),
}


def fold_name(name: str) -> str:
    """The name in our spelling: `Azure OpenAI`, `llama.cpp` and `openai_chat` are accepted."""
    return re.sub(r"[\s_.]+", "-", name.strip().lower())


def unspoken_name(name: str) -> str:
    """Why this name is not known, where it is the name of an API that is not spoken; else ""."""
    return NAMES.get(name, "")


def unspoken_body(body: Any) -> str:
    """What a request body or a reply is, where it is of an API that is not spoken; else ""."""
    if not isinstance(body, Mapping):
        return ""
    if isinstance(body.get("event_type"), str) and "is_finished" in body:
        return COHERE_V1
    is_reply = "generation_id" in body and "text" in body
    if (is_reply or (isinstance(body.get("message"), str) and _asks_cohere(body))) and "messages" not in body:
        return COHERE_V1
    is_event = str(body.get("event_type", "")).startswith(("interaction.", "step."))
    if is_event or body.get("object") == "interaction" or ("steps" in body and "usage" in body):
        return INTERACTIONS
    return INTERACTIONS if "input" in body and _asks_interactions(body) else ""


def _asks_cohere(body: Mapping[str, Any]) -> bool:
    """A failure also has a `message`; a request has a field that says how to answer it."""
    return not {"model", "chat_history", "preamble", "connectors", "stream"}.isdisjoint(body)


def _asks_interactions(body: Mapping[str, Any]) -> bool:
    return not {"generation_config", "agent", "previous_interaction_id"}.isdisjoint(body)
