"""Who says whether a request would be taken: our checkers, the vendors' types, Mistral's validator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from tests import sdk_types
from tests.strict_check import problems_of

from turnout.targets.target import Target
from turnout.wire.request import WireRequest

VALIDATORS = [
    get_validator(version, ValidationMode.serving)
    for version in (TokenizerVersion.v7, TokenizerVersion.v11, TokenizerVersion.v13, TokenizerVersion.v15)
]

UNKNOWN_TO_VALIDATOR = (
    *("stream", "stop", "frequency_penalty", "presence_penalty"),
    *("metadata", "prompt_cache_key", "safe_prompt"),
)
"""Fields that the API has and mistral-common has no word for."""


def complaints(request: WireRequest, place: Target) -> list[str]:
    """Everything that anyone has against this request; nothing when it would be taken."""
    body = inner(request, place)
    return [*_ours(request, body, place), *_theirs(request, body, place), *_mistrals(body, place)]


def inner(request: WireRequest, place: Target) -> bytes:
    """The body without the envelope that Code Assist wants around it."""
    return msgspec.json.encode(request.json["request"]) if place.provider.envelope else request.body


def _ours(request: WireRequest, body: bytes, place: Target) -> Iterator[str]:
    for problem in problems_of(place, request, body):
        yield f"{problem.rule} {problem.path}: {problem.answer}"


def _theirs(request: WireRequest, body: bytes, place: Target) -> Iterator[str]:
    for line in sdk_types.refusals(request.protocol, place.provider.name, place.model, body):
        yield f"SDK {line}"


def _mistrals(body: bytes, place: Target) -> Iterator[str]:
    if place.provider.name != "mistral":
        return
    request = msgspec.json.decode(body)
    for name in UNKNOWN_TO_VALIDATOR:
        request.pop(name, None)
    thinks = _spelled_as_the_validator_does(request)
    try:
        parsed: ChatCompletionRequest = ChatCompletionRequest.model_validate(request)
        for validator in VALIDATORS[thinks:]:  # the oldest knows no thoughts
            validator.validate_request(parsed)
    except (MistralCommonException, ValueError) as error:
        yield f"mistral-common {error}"


def _spelled_as_the_validator_does(request: dict[str, Any]) -> bool:
    """A thought is one text there, and documents are not known; says whether there were thoughts."""
    contents = [message["content"] for message in request["messages"]]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    for part in parts:
        if part["type"] == "thinking":
            part["thinking"] = "".join(text["text"] for text in part["thinking"])
        elif part["type"] == "document_url":
            url = part.pop("document_url")
            part.pop("document_name", None)
            part |= {"type": "text", "text": url}
    return any(part["type"] == "thinking" for part in parts)
