"""`request.params` as keyword arguments of the vendors' own SDKs: what they send is what we would send."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import types
from mistralai.client import Mistral
from tests.handoff.histories import SCENARIOS
from tests.handoff.places import PLACES
from tests.handoff.test_matrix import TOOLS

from turnout import render
from turnout.targets.target import Target
from turnout.wire.request import WireRequest

HISTORIES = (
    "s_36_images_from_parallel_tools",
    "s_49_another_provider_every_turn",
    "s_62_errors_must_be_seen",
    "s_75_redacted_thinking",
    "s_81_reasoning_between_calls",
    "s_87_gemini_steps_with_and_without_signature",
    "s_90_openrouter_reasoning_details",
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"thinking": True, "max_tokens": 4000, "tool_choice": "auto", "system": "Be brief."},
    {"temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ("END",), "parallel": False},
)


class Captured(Exception):
    """The request left the SDK; carries its body."""

    def __init__(self, request: httpx2.Request) -> None:
        super().__init__(str(request.url))
        self.url = str(request.url)
        self.body = json.loads(request.content)


def capture(request: httpx2.Request) -> httpx2.Response:
    raise Captured(request)


def http() -> httpx2.Client:
    return httpx2.Client(transport=httpx2.MockTransport(capture))


def sent(request: WireRequest, place: Target) -> Captured:
    """What the SDK sends when it is called with the request's params."""
    with pytest.raises((Captured, openai.APIConnectionError, anthropic.APIConnectionError)) as caught:
        _call(request, place)
    error: BaseException | None = caught.value
    while error is not None and not isinstance(error, Captured):
        error = error.__cause__ or error.__context__
    assert error is not None, caught.value
    return error


@cache
def _client(kind: str, url: str = "") -> Any:
    match kind:
        case "mistral":
            return Mistral(api_key="x", client=http())
        case "anthropic":
            return anthropic.Anthropic(api_key="x", http_client=http(), max_retries=0)
        case "gemini":
            options = types.HttpOptions(httpx_client=http(), api_version="v1beta")
            return genai.Client(api_key="x", http_options=options)
        case _:
            return openai.OpenAI(api_key="x", base_url=url, http_client=http(), max_retries=0)


def _call(request: WireRequest, place: Target) -> Any:
    if place.provider.name == "mistral":
        return _client("mistral").chat.complete(**request.params)
    if request.protocol == "anthropic":
        return _client("anthropic").messages.create(**request.params)
    if request.protocol == "gemini":
        return _client("gemini").models.generate_content(**request.params)
    gpt = _client("openai", place.provider.base_url)
    method = gpt.responses.create if request.protocol == "responses" else gpt.chat.completions.create
    return method(**request.params)


MISTRAL_DEFAULTS = {("prefix", "False"), ("index", "0"), ("stream", "False")}  # their SDK writes them out


def plain(value: Any, request: WireRequest) -> Any:
    """A body in one of the several spellings that mean the same to the server."""
    if isinstance(value, list):
        return [plain(item, request) for item in value]
    if not isinstance(value, dict):
        return value
    if request.protocol == "gemini":
        return dict(_google(key, plain(item, request)) for key, item in value.items() if item != {})
    kept = {key: plain(item, request) for key, item in value.items() if item is not None}
    if request.target.provider == "mistral":
        return {key: item for key, item in kept.items() if (key, str(item)) not in MISTRAL_DEFAULTS}
    return kept


def _google(key: str, value: Any) -> tuple[str, Any]:
    """Google's SDK mixes two spellings of keys, two of base64, and shouts its enums."""
    key = re.sub("_([a-z])", lambda found: found[1].upper(), key)
    if key == "data":
        return key, value.replace("-", "+").replace("_", "/")
    return key, value.upper() if key in ("type", "thinkingLevel") and isinstance(value, str) else value


def places() -> list[Target]:
    """Where an SDK is called with our parameters; other paths need other clients."""
    apart = (
        "ollama",
        "cohere",
        "converse",
        "invoke",
    )  # `sdk_types` holds requests against the types of these SDKs
    return [
        place
        for place in PLACES
        if not place.provider.envelope
        and not place.provider.path
        and place.provider.name not in ("vertex", "bedrock")
        and place.api not in apart
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # some of the models are old
@pytest.mark.parametrize("place", places(), ids=lambda place: str(place.origin))
def test_the_sdk_sends_what_we_would_send(place: Target) -> None:
    """Called with `**request.params`, the vendor's client makes the same request body."""
    for at, name in enumerate(HISTORIES):
        options = {**OPTIONS[at % 3], "tools": TOOLS[1] if at % 2 else ()}
        request = render(SCENARIOS[name](), place, **options)
        captured = sent(request, place)
        assert plain(captured.body, request) == plain(request.json, request)
        assert captured.url.lower() == request.url.lower()


def test_fields_that_only_some_requests_have_reach_google_s_sdk() -> None:
    """What `extra` adds to a Gemini body is not lost on the way through the SDK."""
    settings = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    extra = {"safetySettings": settings, "somethingNew": 1}
    place = next(place for place in places() if place.provider.name == "gemini")
    request = render(SCENARIOS[HISTORIES[0]](), place, extra=extra)

    assert plain(sent(request, place).body, request) == plain(request.json, request)
