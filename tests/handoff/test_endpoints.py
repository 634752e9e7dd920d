"""Where requests go: address, headers and envelope of every provider, by key and by token."""

from __future__ import annotations

from base64 import b64encode

import pytest
from tests.build import call, conversation, model, settled, user
from tests.handoff.histories import SCENARIOS
from tests.handoff.judges import complaints
from tests.handoff.places import PLACES

from turnout import History, Media, Session, UsageError, render
from turnout.providers import PROVIDERS
from turnout.providers.models import facts
from turnout.targets.target import Target
from turnout.targets.target import find_target as target
from turnout.world.world import World

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
    "vertex:claude-sonnet-4-5@20250929": (
        "https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/anthropic"
        "/models/claude-sonnet-4-5@20250929:rawPredict"
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
    "ollama:llama3.2": "http://127.0.0.1:11434/api/chat",
    "ollama@chat:llama3.2": "http://127.0.0.1:11434/v1/chat/completions",
    "cohere:command-a-03-2025": "https://api.cohere.com/v2/chat",
    "vllm:llama": "http://127.0.0.1:8000/v1/chat/completions",
    "llamacpp:llama": "http://127.0.0.1:8080/v1/chat/completions",
    "lmstudio:llama": "http://127.0.0.1:1234/v1/chat/completions",
    "azure:gpt-4o": "https://RESOURCE.openai.azure.com/openai/v1/chat/completions",
    "azure@deployments:gpt-4o": (
        "https://RESOURCE.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=VERSION"
    ),
    "azure-responses:gpt-5.1": "https://RESOURCE.openai.azure.com/openai/v1/responses",
    "sambanova:any": "https://api.sambanova.ai/v1/chat/completions",
    "bedrock:amazon.nova-lite-v1:0": (
        "https://bedrock-runtime.REGION.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse"
    ),
    "bedrock@invoke:us.anthropic.claude-sonnet-5": (
        "https://bedrock-runtime.REGION.amazonaws.com/model/us.anthropic.claude-sonnet-5/invoke"
    ),
    "compatible:any": "http://127.0.0.1:8000/v1/chat/completions",
}


PNG = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(24)).decode()
PDF = b64encode(b"%PDF-1.4\n").decode()


def hello() -> History:
    return conversation(user("hi"))


@pytest.mark.parametrize(("to", "url"), URLS.items())
def test_every_provider_lives_at_its_own_address(to: str, url: str) -> None:
    """A target without `base_url` is sent by POST to the default URL of its provider."""
    request = render(hello(), to)
    assert (request.method, request.url) == ("POST", url)


def test_every_provider_is_in_this_list() -> None:
    """A provider that is added to `PROVIDERS` needs a URL here."""
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
    assert set(request.json) == {"model", "user_prompt_id", "request"}
    assert request.json["model"] == "gemini-2.5-pro"
    assert request.json["request"]["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert request.url.endswith("/v1internal:streamGenerateContent?alt=sse")
    assert complaints(request, place) == []


def test_the_code_assist_envelope_names_the_project_and_the_prompt() -> None:
    """Every request of one tool loop belongs to the same prompt; the next prompt has another id."""
    place = target("gemini@oauth:gemini-2.5-pro", project="mine")
    history = conversation(user("go"), model(call("look")), settled("look"))
    loop = [render(history, place).json]
    history.reply("openai:gpt-5.1", [call("look", "again")])
    loop.append(render(history, place).json)
    assert {around["project"] for around in loop} == {"mine"}
    assert {around["user_prompt_id"] for around in loop} == {history.turns[0].key}
    history.user("and now?")
    assert render(history, place).json["user_prompt_id"] == history.turns[-1].key
    asked = render(history, place, project="theirs", user_prompt_id="p#7").json
    assert (asked["project"], asked["user_prompt_id"]) == ("theirs", "p#7")


def test_a_missing_project_is_named() -> None:
    """Code Assist refuses some accounts without one; the report says how to give it."""
    request = render(hello(), "gemini@oauth:gemini-2.5-pro")
    assert "project" not in request.json
    assert any("GOOGLE_CLOUD_PROJECT" in line for line in request.report.changes)
    assert not any("project" in line for line in render(hello(), "gemini:gemini-2.5-pro").report.changes)


def test_a_session_takes_the_project_from_the_environment() -> None:
    """`GOOGLE_CLOUD_PROJECT` is the project of a Gemini target with OAuth."""
    session = Session(
        "gemini@oauth:gemini-2.5-pro", world=World(environment={"GOOGLE_CLOUD_PROJECT": "mine"})
    )
    assert session.target.provider.project == "mine"


IMAGE = Media("image/png", PNG)
SHOWN: dict[str, tuple[History, bool]] = {
    "words": (conversation(user("hi")), False),
    "the user's image": (conversation(user("see", IMAGE)), True),
    "an image of long ago": (conversation(user("see", IMAGE), model("yes"), user("and?")), True),
    "a tool's image": (conversation(user("go"), model(call("shot")), settled("shot", [IMAGE])), True),
    "a document": (conversation(user("see", Media("application/pdf", PDF))), False),
}


@pytest.mark.parametrize("to", ["copilot:gpt-4.1", "copilot:gpt-5.2-codex"])
@pytest.mark.parametrize("what", SHOWN)
def test_copilot_is_told_of_images(to: str, what: str) -> None:
    """Without the header, a request that shows images is a 400."""
    history, has_image = SHOWN[what]
    assert render(history, to).headers.get("copilot-vision-request") == ("true" if has_image else None)
    assert "copilot-vision-request" not in render(history, "openai:gpt-4.1").headers


def test_copilot_is_told_who_asks() -> None:
    """The user's own prompts count differently from the requests of a tool loop."""
    history = conversation(user("go"))
    told = [render(history, "copilot:gpt-4.1").headers["x-initiator"]]
    history.reply("copilot:gpt-4.1", [call("look")])
    told.append(render(history, "copilot:gpt-4.1").headers["x-initiator"])
    history.note_system("be quick")
    told.append(render(history, "copilot:gpt-4.1").headers["x-initiator"])
    history.user("and now?")
    told.append(render(history, "copilot:gpt-4.1").headers["x-initiator"])
    assert told == ["user", "agent", "agent", "user"]


@pytest.mark.parametrize("to", ["copilot:gpt-4.1", "copilot:gpt-5.2-codex"])
def test_a_user_who_says_nothing_asks_nothing(to: str) -> None:
    """A turn without words is not sent, so the results before it come last: that is the agent's request."""
    history = conversation(user("go"), model(call("look")), settled("look", "seen"), user(""))
    assert render(history, to).headers["x-initiator"] == "agent"


def test_an_sdk_is_given_the_headers_too() -> None:
    """Whoever keeps their SDK sends the same request."""
    params = render(conversation(user("see", IMAGE)), "copilot:gpt-4.1").params
    assert params["extra_headers"]["copilot-vision-request"] == "true"
    assert "extra_headers" not in render(hello(), "openai:gpt-4.1").params
    assert "extra_headers" not in render(hello(), "anthropic:claude-sonnet-4-5").params


@pytest.mark.parametrize("model_name", ["jamba-1.5", "publishers/meta/llama-4", "Mistral-x"])
def test_vertex_says_which_models_it_cannot_speak_to_yet(model_name: str) -> None:
    """Another publisher's model wants another body; a Gemini body would be refused there."""
    with pytest.raises(UsageError, match=rf"vertex serves {model_name}.*openrouter"):
        render(hello(), f"vertex:{model_name}")


def test_params_of_an_enveloped_request_are_those_of_the_inner_one() -> None:
    """With Gemini OAuth, `params` has the model and the contents at the top, as for an API key."""
    params = render(hello(), "gemini@oauth:gemini-2.5-pro").params
    assert params["model"] == "gemini-2.5-pro" and params["contents"][0]["role"] == "user"


@pytest.mark.parametrize("to", ["vertex:gemini-3-pro-preview", "gemini@oauth:gemini-3-pro-preview"])
def test_who_refuses_call_ids_gets_none(to: str) -> None:
    """GEM-06: some doors of Gemini do not know the field."""
    body = render(SCENARIOS["s_46_parallel_calls_of_one_name_without_ids"](), to).json
    calls = [part for content in body.get("request", body)["contents"] for part in content["parts"]]
    assert not any("id" in part.get("functionCall", part.get("functionResponse", {})) for part in calls)


def test_a_streamed_gemini_answer_has_an_address_of_its_own() -> None:
    """The URL asks Gemini for a stream; the body has no `stream` field."""
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
        (
            "vertex:claude-opus-4-8",
            "https://h/v1/projects/p/locations/l/publishers/google",
            "https://h/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-8:rawPredict",
        ),
        (
            "azure@deployments:my-gpt",
            "https://mine.openai.azure.com/openai/v1",
            "https://mine.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=VERSION",
        ),
    ],
)
def test_another_address_of_the_same_api(to: str, base: str, url: str) -> None:
    """The path of the API is appended to `base_url`, and `/v1` is not repeated."""
    assert render(hello(), to, base_url=base).url == url


def test_azure_has_its_own_key_header() -> None:
    """Azure takes its key in the header `api-key`, also under the alias `azure-openai`."""
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
    """An alias such as `claude` or `grok` resolves to the provider that it stands for."""
    assert render(hello(), f"{alias}:some-model").target.provider == name


@pytest.mark.parametrize(
    ("wrong", "near"), [("opnai", "openai"), ("antropic", "anthropic"), ("mistal", "mistral")]
)
def test_an_unknown_provider_is_answered_with_the_nearest_names(wrong: str, near: str) -> None:
    """The error of a misspelled provider suggests the right spelling."""
    with pytest.raises(UsageError, match=rf"unknown provider '{wrong}'.*{near}"):
        render(hello(), f"{wrong}:model")


def test_a_provider_like_no_other_is_answered_with_all_of_them() -> None:
    """The error lists the known providers and the base URL; for a blank target, the form `provider:model`."""
    with pytest.raises(UsageError, match=r"(?s)known are openai, .*base URL"):
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
    """The format of call ids follows the family of the model: Mistral and Kimi ids also on other hosts."""
    assert render(hello(), to).report.format == ids
