"""Media that lies elsewhere: links, with and without a type, and files that an account has at a provider."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import History, Media, Outcome, ToolCall, ingest, render
from turnout.wire.protocol import WireRequest

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
YOUTUBE = "https://www.youtube.com/watch?v=abc"
CLAUDE, OTHER_CLAUDE = "anthropic:claude-sonnet-4-5", "anthropic:claude-opus-4-8"
GPT, OTHER_GPT = "openai-responses:gpt-5.1", "openai-responses:gpt-5-mini"
CHAT_GPT, GEMINI = "openai:gpt-5.1", "gemini:gemini-2.5-pro"
EVERYONE_ELSE = (CLAUDE, GPT, CHAT_GPT, "mistral:mistral-large-latest", "deepseek:deepseek-chat")


def shown(part: Any, form: str, origin: str) -> History:
    """What a user shows in one message, in the words of a format."""
    match form:
        case "gemini":
            return ingest([{"role": "user", "parts": [{"text": "see"}, part]}], form, origin)
        case "openai-responses":
            said = [{"type": "input_text", "text": "see"}, part]
            return ingest([{"type": "message", "role": "user", "content": said}], form, origin)
        case _:
            said = [{"type": "text", "text": "see"}, part]
            return ingest([{"role": "user", "content": said}], form, origin)


def parts(request: WireRequest) -> list[Any]:
    """The parts of the first message, as the target gets them."""
    body = request.json
    (first, *_) = body.get("messages") or body.get("input") or body["contents"]
    content = first.get("parts") or first["content"]
    return content if isinstance(content, list) else [{"text": content}]


def words(request: WireRequest) -> str:
    return "\n".join(part.get("text", "") for part in parts(request))


# Links


def test_a_link_without_a_type_stays_a_link_for_gemini() -> None:
    """Recorded: Gemini takes a YouTube address without mimeType, and looks at it by itself."""
    history = shown({"fileData": {"fileUri": YOUTUBE}}, "gemini", GEMINI)
    for to in (GEMINI, "gemini:gemini-3-pro-preview", "vertex:gemini-2.5-flash"):
        assert parts(render(history, to))[1] == {"fileData": {"fileUri": YOUTUBE}}


def test_a_youtube_address_is_a_link_for_gemini_whoever_gave_it() -> None:
    history = History("h")
    history.user([Media("*/*", uri=YOUTUBE)])
    assert parts(render(history, GEMINI)) == [{"fileData": {"fileUri": YOUTUBE}}]


@pytest.mark.parametrize("to", EVERYONE_ELSE)
def test_a_link_that_a_model_cannot_read_is_told_with_its_address(to: str) -> None:
    """A model that cannot look may still have a tool that can."""
    for part in ({"fileUri": YOUTUBE}, {"fileUri": "https://x.test/film.mp4", "mimeType": "video/mp4"}):
        request = render(shown({"fileData": part}, "gemini", GEMINI), to)
        assert part["fileUri"] in words(request)
        (told,) = [item for item in request.report.diagnostics if item.code == "media_replaced"]
        assert part["fileUri"] in told.detail


def test_how_gemini_is_to_look_at_a_film_stays_beside_it() -> None:
    part = {"fileData": {"fileUri": YOUTUBE}, "videoMetadata": {"startOffset": "10s", "fps": 2}}
    assert parts(render(shown(part, "gemini", GEMINI), GEMINI))[1] == part


def test_a_field_that_nobody_knows_is_named() -> None:
    history = shown({"text": "hm", "hologram": {"depth": 3}}, "gemini", GEMINI)
    assert [(item.code, item.detail) for item in history.diagnostics] == [("unknown_field", "hologram")]


def test_a_link_to_a_file_of_any_kind_stays_a_link_for_responses() -> None:
    """OpenAI looks what it is; an address need not end in what it holds."""
    part = {"type": "input_file", "file_url": "https://x.test/report"}
    history = shown(part, "openai-responses", GPT)
    assert parts(render(history, OTHER_GPT))[1] == part
    assert "[link https://x.test/report]" in words(render(history, CLAUDE))


@pytest.mark.parametrize("to", [CLAUDE, GPT, CHAT_GPT])
def test_an_address_that_is_not_on_the_web_is_told(to: str) -> None:
    history = History("h")
    history.user(["see", Media("image/png", uri="gs://bucket/a.png")])
    assert "gs://bucket/a.png] (left out: its address is not on the web)" in words(render(history, to))


# Files that lie at a provider


HELD: dict[str, tuple[str, str, Any]] = {
    "a document at Anthropic": (
        "anthropic",
        CLAUDE,
        {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
    ),
    "an image at Anthropic": (
        "anthropic",
        CLAUDE,
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
    ),
    "a file at OpenAI": ("openai-responses", GPT, {"type": "input_file", "file_id": "file_1"}),
    "an image at OpenAI": (
        "openai-responses",
        GPT,
        {"type": "input_image", "file_id": "file_1", "detail": "low"},
    ),
    "a file of Chat": ("openai-chat", CHAT_GPT, {"type": "file", "file": {"file_id": "file_1"}}),
}
OTHER_MODEL = {CLAUDE: OTHER_CLAUDE, GPT: OTHER_GPT, CHAT_GPT: "openai:gpt-5-mini"}


@pytest.mark.parametrize("what", HELD)
def test_a_file_id_is_for_every_model_of_its_account(what: str) -> None:
    form, origin, part = HELD[what]
    history = shown(part, form, origin)
    assert parts(render(history, origin))[1] == part
    assert parts(render(history, OTHER_MODEL[origin]))[1] == part


@pytest.mark.parametrize("what", HELD)
def test_a_file_id_is_for_no_other_account(what: str) -> None:
    """Others are told that there was a file, and which."""
    form, origin, part = HELD[what]
    history = shown(part, form, origin)
    provider, _, model = origin.partition(":")
    for to in (f"{provider}@work:{model}", GEMINI, "mistral:mistral-large-latest"):
        assert "[file file_1]" in words(render(history, to))


def test_an_account_of_openai_has_two_doors() -> None:
    """A file that was shown through Chat is there for Responses, and the other way round."""
    through_chat = shown(HELD["a file of Chat"][2], "openai-chat", CHAT_GPT)
    assert parts(render(through_chat, GPT))[1] == {"type": "input_file", "file_id": "file_1"}
    through_responses = shown(HELD["a file at OpenAI"][2], "openai-responses", GPT)
    assert parts(render(through_responses, CHAT_GPT))[1] == {"type": "file", "file": {"file_id": "file_1"}}
    image = shown(HELD["an image at OpenAI"][2], "openai-responses", GPT)
    assert "[file file_1]" in words(render(image, CHAT_GPT))  # Chat has no images by id


@pytest.mark.parametrize(
    "uri", ["gs://bucket/a.png", "https://generativelanguage.googleapis.com/v1beta/files/abc"]
)
def test_a_file_at_google_is_for_its_account(uri: str) -> None:
    """Nobody else can fetch it, so others are told of it in words."""
    part = {"fileData": {"mimeType": "image/png", "fileUri": uri}}
    history = shown(part, "gemini", GEMINI)
    assert parts(render(history, "gemini:gemini-3-pro-preview"))[1] == part
    for to in EVERYONE_ELSE:
        assert f"[image/png {uri}] (left out: only its account at gemini can read it)" in words(
            render(history, to)
        )


@pytest.mark.parametrize("to", [CLAUDE, OTHER_CLAUDE])
def test_what_is_said_about_a_document_goes_back_with_it(to: str) -> None:
    part = {
        "type": "document",
        "title": "facts",
        "context": "from the archive",
        "citations": {"enabled": True},
        "source": {"type": "url", "url": "https://x.test/d.pdf"},
    }
    assert parts(render(shown(part, "anthropic", CLAUDE), to))[1] == part


def test_the_name_of_a_file_is_its_title_at_anthropic() -> None:
    data = "data:application/pdf;base64,JVBERi0xLjQK"
    part = {"type": "file", "file": {"filename": "facts.pdf", "file_data": data}}
    assert parts(render(shown(part, "openai-chat", CHAT_GPT), CLAUDE))[1]["title"] == "facts.pdf"


def test_media_that_a_model_cannot_read_in_a_result_is_named_in_the_report() -> None:
    history = History("h")
    history.user("go")
    call = history.reply(CLAUDE, [ToolCall("shot", "shot")]).tool_calls[0]
    history.settle(call.id, Outcome("complete", (Media("image/png", uri="https://x.test/a.png"),)))
    request = render(history, "deepseek:deepseek-chat")
    (told,) = [item for item in request.report.diagnostics if item.code == "media_replaced"]
    assert (told.call_id, told.detail) == (call.id, "[image/png https://x.test/a.png]")


# How a medium is shown


@pytest.mark.parametrize(
    ("to", "is_told"),
    [
        ("openai:gpt-4o", True),
        ("openai-responses:gpt-5.1", True),
        ("azure:gpt-4o", True),
        (CLAUDE, False),
        (GEMINI, False),
    ],
)
def test_how_closely_to_look_at_an_image_is_said_or_named(to: str, is_told: bool) -> None:
    """OpenAI's two APIs have the same word for it; for the others a diagnostic names it."""
    link = {"url": "https://example.org/a.png", "detail": "low"}
    request = render(shown({"type": "image_url", "image_url": link}, "openai-chat", "openai:gpt-4o"), to)
    named = [item.detail for item in request.report.diagnostics if item.code == "media_details_omitted"]
    assert ('"detail":"low"' in request.body.decode(), named) == (is_told, [] if is_told else named)
    assert is_told or "detail low" in named[0]


def test_a_document_at_anthropic_is_told_with_its_title_and_context() -> None:
    """Others cannot read the file; what was said about it they can."""
    source = {"type": "file", "file_id": "file_1"}
    part = {"type": "document", "source": source, "title": "Report", "context": "of last year"}
    history = shown(part, "anthropic", CLAUDE)
    assert words(render(history, CHAT_GPT)) == "see\n[file file_1]\n\nReport\n\nof last year"
    assert parts(render(history, OTHER_CLAUDE))[1] == part


@pytest.mark.parametrize("model", ["gpt-4o-audio-preview", "gpt-4o-mini-audio-preview", "gpt-audio-mini"])
def test_models_that_hear_get_sound(model: str) -> None:
    """They begin with the name of a model that does not hear."""
    part = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    assert parts(render(shown(part, "openai-chat", f"openai:{model}"), f"openai:{model}"))[1] == part


@pytest.mark.parametrize("to", ["openrouter:google/gemini-2.5-flash", "compatible:x"])
def test_a_video_goes_back_to_servers_that_take_it(to: str) -> None:
    """In the part that it came in; whoever cannot see it is told its address."""
    part = {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}}
    history = shown(part, "openai-chat", to)
    assert parts(render(history, to))[1] == part
    assert "https://example.org/a.mp4" in words(render(history, CLAUDE))


@pytest.mark.parametrize("to", [CLAUDE, GPT, CHAT_GPT, "mistral:mistral-large-latest"])
def test_the_name_of_an_image_is_named_where_images_have_none(to: str) -> None:
    """Gemini gives files of all kinds a name; the others only documents."""
    blob = {"mimeType": "image/png", "data": PIXEL, "displayName": "plan.png"}
    history = shown({"inlineData": blob}, "gemini", GEMINI)
    assert "plan.png" in render(history, GEMINI).body.decode()
    found = [(item.code, item.detail) for item in render(history, to).report.diagnostics]
    assert any(code == "media_details_omitted" and "file name plan.png" in detail for code, detail in found)
