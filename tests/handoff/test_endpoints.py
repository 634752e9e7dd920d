"""Where requests go: address, headers and envelope of every provider, by key and by token."""

from __future__ import annotations

import pytest
from tests.build import conversation, user
from tests.handoff.histories import SCENARIOS
from tests.handoff.judges import complaints
from tests.handoff.places import PLACES

from turnout import History, UsageError, render
from turnout.providers import PROVIDERS, Target, target
from turnout.providers.models import facts

URLS = {
    "openai:gpt-4o": "https://api.openai.com/v1/chat/completions",
    "openai-responses:gpt-5.1": "https://api.openai.com/v1/responses",
    "anthropic:claude-sonnet-4-5": "https://api.anthropic.com/v1/messages",
    "anthropic@oauth:claude-sonnet-4-5": "https://api.anthropic.com/v1/messages",
    "gemini:gemini-2.5-flash": (
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"
    ),
    "gemini@oauth:gemini-2.5-pro": "https://cloudcode-pa.googleapis.com/v1internal:generateContent",
    "vertex:gemini-2.5-flash": (
        "https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google"
        "/models/gemini-2.5-flash:generateContent"
    ),
    "mistral:mistral-large-latest": "https://api.mistral.ai/v1/chat/completions",
    "kimi:kimi-k2.5": "https://api.moonshot.ai/v1/chat/completions",
    "deepseek:deepseek-chat": "https://api.deepseek.com/chat/completions",
    "qwen:qwen3-max": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
    "xai:grok-4": "https://api.x.ai/v1/chat/completions",
    "groq:llama-3.3-70b-versatile": "https://api.groq.com/openai/v1/chat/completions",
    "copilot:gpt-4.1": "https://api.githubcopilot.com/chat/completions",
    "copilot:gpt-5.2-codex": "https://api.githubcopilot.com/responses",
    "openrouter:openai/gpt-5.1": "https://openrouter.ai/api/v1/chat/completions",
    "together:llama": "https://api.together.xyz/v1/chat/completions",
    "fireworks:llama": "https://api.fireworks.ai/inference/v1/chat/completions",
    "cerebras:llama": "https://api.cerebras.ai/v1/chat/completions",
    "zai:glm-4.6": "https://api.z.ai/api/paas/v4/chat/completions",
    "ollama:llama3.2": "http://127.0.0.1:11434/v1/chat/completions",
    "vllm:llama": "http://127.0.0.1:8000/v1/chat/completions",
    "llamacpp:llama": "http://127.0.0.1:8080/v1/chat/completions",
    "lmstudio:llama": "http://127.0.0.1:1234/v1/chat/completions",
    "azure:gpt-4o": "https://RESOURCE.openai.azure.com/openai/v1/chat/completions",
    "compatible:any": "http://127.0.0.1:8000/v1/chat/completions",
}


def hello() -> History:
    return conversation(user("hi"))


@pytest.mark.parametrize(("to", "url"), URLS.items())
def test_every_provider_lives_at_its_own_address(to: str, url: str) -> None:
    request = render(hello(), to)
    assert (request.method, request.url) == ("POST", url)


def test_every_provider_is_in_this_list() -> None:
    assert {target(to).provider.name for to in URLS} == set(PROVIDERS)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place.origin))
def test_headers_hold_no_secret(place: Target) -> None:
    """What authenticates comes in when the request is sent; a request can be shown to anyone."""
    headers = render(hello(), place).headers
    assert headers["content-type"] == "application/json"
    assert not {"authorization", "x-api-key", "x-goog-api-key", "api-key"} & {
        name.lower() for name in headers
    }


def test_anthropic_by_key_and_by_token() -> None:
    """The same body; a token wants another header and says so in a beta header."""
    by_key, by_token = target("anthropic:claude-sonnet-4-5"), target("anthropic@oauth:claude-sonnet-4-5")
    assert (by_key.provider.auth, by_token.provider.auth) == ("x-api-key", "bearer")
    assert by_token.provider.key_variables == ("ANTHROPIC_AUTH_TOKEN",)
    one, other = render(hello(), by_key), render(hello(), by_token)
    assert one.body == other.body
    assert one.headers["anthropic-version"] == other.headers["anthropic-version"] == "2023-06-01"
    assert "anthropic-beta" not in one.headers and other.headers["anthropic-beta"] == "oauth-2025-04-20"


def test_gemini_by_token_wears_the_code_assist_envelope() -> None:
    """The model and the request inside one object, at an address without the model."""
    place = target("gemini@oauth:gemini-2.5-pro")
    request = render(hello(), place, stream=True, system="Be brief.")
    assert place.provider.auth == "bearer"
    assert set(request.json) == {"model", "request"} and request.json["model"] == "gemini-2.5-pro"
    assert request.json["request"]["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert request.url.endswith("/v1internal:streamGenerateContent?alt=sse")
    assert complaints(request, place) == []


def test_params_of_an_enveloped_request_are_those_of_the_inner_one() -> None:
    params = render(hello(), "gemini@oauth:gemini-2.5-pro").params
    assert params["model"] == "gemini-2.5-pro" and params["contents"][0]["role"] == "user"


@pytest.mark.parametrize("to", ["vertex:gemini-3-pro-preview", "gemini@oauth:gemini-3-pro-preview"])
def test_who_refuses_call_ids_gets_none(to: str) -> None:
    """GEM-06: some doors of Gemini do not know the field."""
    body = render(SCENARIOS["s_46_parallel_calls_of_one_name_without_ids"](), to).json
    calls = [part for content in body.get("request", body)["contents"] for part in content["parts"]]
    assert not any("id" in part.get("functionCall", part.get("functionResponse", {})) for part in calls)


def test_a_streamed_gemini_answer_has_an_address_of_its_own() -> None:
    request = render(hello(), "gemini:gemini-2.5-flash", stream=True)
    assert request.url.endswith("/models/gemini-2.5-flash:streamGenerateContent?alt=sse")
    assert "stream" not in request.json


@pytest.mark.parametrize(
    ("to", "base", "url"),
    [
        ("compatible:llama", "http://host:9/v1/", "http://host:9/v1/chat/completions"),
        (
            "azure:gpt-4o",
            "https://mine.openai.azure.com/openai/v1",
            "https://mine.openai.azure.com/openai/v1/chat/completions",
        ),
        ("anthropic:claude-sonnet-4-5", "https://gate/anthropic", "https://gate/anthropic/v1/messages"),
        ("anthropic:claude-sonnet-4-5", "https://gate/v1", "https://gate/v1/messages"),
        ("openai-responses:gpt-5.1", "https://gate/v1", "https://gate/v1/responses"),
        (
            "vertex:gemini-2.5-flash",
            "https://gate/google",
            "https://gate/google/models/gemini-2.5-flash:generateContent",
        ),
    ],
)
def test_another_address_of_the_same_api(to: str, base: str, url: str) -> None:
    assert render(hello(), to, base_url=base).url == url


def test_azure_has_its_own_key_header() -> None:
    place = target("azure-openai:gpt-4o")
    assert place.provider.name == "azure" and place.provider.auth == "api-key"


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("openai-chat", "openai"),
        ("claude", "anthropic"),
        ("google", "gemini"),
        ("moonshot", "kimi"),
        ("grok", "xai"),
    ],
)
def test_a_provider_goes_by_its_other_names_too(alias: str, name: str) -> None:
    assert render(hello(), f"{alias}:some-model").target.provider == name


@pytest.mark.parametrize(
    ("wrong", "near"), [("opnai", "openai"), ("antropic", "anthropic"), ("mistal", "mistral")]
)
def test_an_unknown_provider_is_answered_with_the_nearest_names(wrong: str, near: str) -> None:
    with pytest.raises(UsageError, match=rf"unknown provider '{wrong}'.*{near}"):
        render(hello(), f"{wrong}:model")


def test_a_provider_like_no_other_is_answered_with_all_of_them() -> None:
    with pytest.raises(UsageError, match=r"(?s)known are openai, .*base_url="):
        render(hello(), "zzzzzz:model")
    with pytest.raises(UsageError, match="provider:model"):
        render(hello(), "  ")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unknown_model_gets_the_providers_defaults(provider: str) -> None:
    """The request is made and valid; the report says that the model is not in the table."""
    place = target(f"{provider}:unheard-of-1")
    for thinking in (None, True, False):
        request = render(hello(), place, thinking=thinking)
        assert complaints(request, place) == []
        assert any("unheard-of-1 is not in the table" in line for line in request.report.changes)


def test_the_longest_name_in_the_table_wins() -> None:
    """Whatever host, vendor or date stands around it."""
    assert facts("gpt-4o-mini-2024-07-18") == facts("gpt-4o") != facts("gpt-4")
    assert facts("anthropic/claude-sonnet-4.5") == facts("claude-sonnet-4-5-20250929")
    assert facts("models/gemini-3-pro-preview").signatures and not facts("gemini-2.5-pro").signatures
    assert facts("accounts/fireworks/models/kimi-k2p5") == facts("kimi-k2.5")
    assert not facts("unheard-of").known


@pytest.mark.parametrize(
    ("to", "ids"),
    [
        ("openrouter:mistralai/mistral-large", "mistral"),
        ("vllm:mistralai/Ministral-8B", "mistral"),
        ("groq:moonshotai/kimi-k2-instruct", "kimi"),
        ("copilot:gpt-4.1", "openai"),
        ("openrouter:anthropic/claude-sonnet-4.5", "openai"),
    ],
)
def test_a_family_keeps_its_dialect_behind_any_host(to: str, ids: str) -> None:
    assert render(hello(), to).report.format == ids
