"""S-52 to S-68: content of every awkward shape, and tools that are gone or hard to describe."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.handoff.histories import SCENARIOS
from tests.handoff.scenario import JPEG, PNG
from tests.scenarios.reading import (
    CLAUDE,
    FAMILIES,
    GEMINI,
    GEMINI_3,
    KIMI,
    MISTRAL,
    OPENAI,
    RESPONSES,
    heard,
    messages,
    request,
)

from turnout import UsageError, render


def texts(value: Any) -> list[str]:
    """Every text that stands anywhere in a body's messages."""
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [text for item in value.values() for text in texts(item)]
    return [text for item in value for text in texts(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("to", FAMILIES)
def test_s_52_blank_texts_are_left_out(to: str) -> None:
    """No blank text anywhere, and no message without content."""
    sent = messages("s_52_empty_texts", to)
    assert all(text.strip() for text in texts(sent))
    assert all(message.get("content", True) != [] for message in sent)


@pytest.mark.parametrize("to", FAMILIES)
def test_s_53_a_request_never_ends_with_the_models_words(to: str) -> None:
    """What ends in white space is not last any more, so nobody minds how it ends."""
    last = messages("s_53_ends_in_whitespace", to)[-1]
    assert last["role"] == "user"
    assert "Please continue." in json.dumps(last)


@pytest.mark.parametrize("to", FAMILIES)
def test_s_54_an_empty_result_says_that_it_is_empty(to: str) -> None:
    """An empty string, null, white space and an empty list are all sent as `[empty tool result]`."""
    assert {text for _, text in heard("s_54_empty_results", to).results} == {"[empty tool result]"}


@pytest.mark.parametrize("to", [GEMINI, GEMINI_3])
def test_s_54_a_gemini_response_is_always_an_object(to: str) -> None:
    """An object stays what it is; lists, scalars and text stand under a name."""
    parts = [part for content in messages("s_54_results_that_are_json", to) for part in content["parts"]]
    given = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    assert given == [
        {"a": 1},
        {"output": [1, 2]},
        {"output": "null"},
        {"output": "3"},
        {"output": '"text"'},
        {"output": "{broken"},
    ]


@pytest.mark.parametrize("to", FAMILIES)
def test_s_55_input_is_always_an_object(to: str) -> None:
    """null, [], "" and text are no input; the call goes out with an object, and its result with it."""
    calls = heard("s_55_input_that_is_no_object", to).calls
    assert len(calls) == 5
    assert all(isinstance(arguments, dict) for _, _, arguments in calls)


@pytest.mark.parametrize("to", FAMILIES)
def test_s_56_arguments_that_were_cut_become_valid_json(to: str) -> None:
    """The call goes out with an object; what the model wrote stays in the history."""
    (_, _, arguments), *_ = heard("s_56_arguments_cut_in_the_middle", to).calls
    assert isinstance(arguments, dict)
    call = SCENARIOS["s_56_arguments_cut_in_the_middle"]().turns[1].tool_calls[0]  # type: ignore[union-attr]
    assert call.raw == '{"path":"a.t' and call.fault == "truncated"


@pytest.mark.parametrize("to", FAMILIES)
def test_s_57_other_json_is_wrapped(to: str) -> None:
    """Lists, numbers, booleans and strings become `{"value": …}`; null and empty text become `{}`."""
    calls = heard("s_57_arguments_of_other_json", to).calls
    assert [arguments for _, _, arguments in calls] == [
        {"value": [1, 2]},
        {"value": 7},
        {"value": True},
        {"value": "word"},
        {},
        {},
    ]


@pytest.mark.parametrize("to", FAMILIES)
def test_s_58_arguments_encoded_twice_are_decoded(to: str) -> None:
    """A JSON string that holds a JSON object is sent as that object."""
    assert [arguments for _, _, arguments in heard("s_58_arguments_encoded_twice", to).calls] == [
        {"path": "a"}
    ]


@pytest.mark.parametrize("to", FAMILIES)
def test_s_59_lone_surrogates_become_replacement_characters(to: str) -> None:
    """This holds in prompts, answers, arguments and results: no request has invalid Unicode."""
    found = heard("s_59_lone_surrogates", to)
    assert "a\ufffdb" in "".join(found.user) and "c\ufffdd" in "".join(found.model)
    assert found.calls[0][2] == {"x": "\ufffd"} and "e\ufffd" in found.results[0][1]


@pytest.mark.parametrize("to", FAMILIES)
def test_s_60_nul_is_replaced_and_a_long_line_is_whole(to: str) -> None:
    """No body has the escape of NUL, and a line of 100,000 characters is not truncated."""
    made = request("s_60_nul_and_a_long_line", to)
    assert b"\\u0000" not in made.body
    assert b"x" * 100_000 in made.body


@pytest.mark.parametrize("to", FAMILIES)
def test_s_61_circular_values_are_cut(to: str) -> None:
    """The repeated reference becomes `[circular]`; sets become lists and bytes become text."""
    found = heard("s_61_circular_values", to)
    assert found.calls[0][2] == {
        "circle": {"name": "loop", "self": "[circular]"},
        "set": [1],
        "bytes": "\ufffd",
    }
    assert "loop" in found.results[0][1]


@pytest.mark.parametrize("to", FAMILIES)
def test_s_62_every_failure_is_readable(to: str) -> None:
    """An error, an error without words, a refusal and a cancellation: the model can tell them apart."""
    broke, wordless, denied, cancelled = (text for _, text in heard("s_62_errors_must_be_seen", to).results)
    assert "disk full" in broke
    assert "failed" in wordless
    assert "refused" in denied and "no" in denied
    assert "cancelled" in cancelled and "did not run" in cancelled


def test_s_62_errors_are_marked_where_there_is_a_mark() -> None:
    """Claude has a flag, Gemini a key, the others a word in front. A refusal by the user is no error."""
    assert len(heard("s_62_errors_must_be_seen", CLAUDE).failed) == 3
    assert len(heard("s_62_errors_must_be_seen", GEMINI).failed) == 3
    for to in (OPENAI, RESPONSES, MISTRAL):
        assert heard("s_62_errors_must_be_seen", to).results[0][1] == "Error: disk full"


@pytest.mark.parametrize("to", FAMILIES)
def test_s_63_text_beside_calls_is_kept(to: str) -> None:
    """The model reads both its sentence and the two calls that it made with it."""
    found = heard("s_63_text_beside_calls", to)
    assert "I will look" in found.model and len(found.calls) == 2


@pytest.mark.parametrize(("to", "empty"), [(OPENAI, None), (MISTRAL, ""), ("xai:grok-4", "")])
def test_s_63_a_message_of_calls_alone_has_the_content_that_its_provider_takes(to: str, empty: Any) -> None:
    """OpenAI gets `null` as the content; Mistral and xAI get an empty string."""
    last = [item for item in messages("s_63_text_beside_calls", to) if item.get("tool_calls")][-1]
    assert last["content"] == empty


@pytest.mark.parametrize("to", FAMILIES)
def test_s_64_media_goes_out_once_with_its_owner(to: str) -> None:
    """`losses` counts each medium; here also: only the first result has one."""
    made = request("s_64_media_belongs_to_one_result", to)
    assert made.body.count(PNG[:40].encode()) <= 1


def test_s_64_media_stands_inside_its_own_result_where_it_can() -> None:
    """Claude and Gemini 3 get the image in the first result, and the second result stays text."""
    results = messages("s_64_media_belongs_to_one_result", CLAUDE)[2]["content"]
    assert [block["type"] for block in results[0]["content"]] == ["text", "image"]
    assert results[1]["content"] == "words"
    parts = messages("s_64_media_belongs_to_one_result", GEMINI_3)[2]["parts"]
    assert ["parts" in part["functionResponse"] for part in parts] == [True, False]


def test_s_64_a_failed_result_holds_text_only() -> None:
    """Claude refuses pictures in errors: they follow the results."""
    blocks = messages("s_64_media_of_a_failed_tool", CLAUDE)[2]["content"]
    assert [block["type"] for block in blocks] == ["tool_result", "image", "text"]
    assert blocks[0]["is_error"] and blocks[0]["content"] == "it broke"


def images(scenario: str, to: str) -> list[tuple[str, str]]:
    """Media types and data that go out, in order."""
    found = []
    for part in map(json.loads, heard(scenario, to).media):
        source = part.get("source") or part.get("inlineData") or {}
        if "data" in source:
            found.append((source.get("media_type") or source["mimeType"], source["data"]))
        elif (
            url := (part.get("image_url") or {}).get("url", "")
            if isinstance(part.get("image_url"), dict)
            else ""
        ):
            mime, _, data = url.removeprefix("data:").partition(";base64,")
            found += [(mime, data)] if data else []
    return found


@pytest.mark.parametrize("to", [CLAUDE, GEMINI, OPENAI, MISTRAL])
def test_s_65_images_go_out_as_what_they_are(to: str) -> None:
    """A wrong type is put right by the first bytes; what is empty or no image is named in words."""
    assert images("s_65_images_that_are_not_what_they_say", to) == [
        ("image/jpeg", JPEG),
        ("image/jpeg", JPEG),
        ("image/png", PNG),
        ("image/jpeg", JPEG),
    ]
    words = " ".join(heard("s_65_images_that_are_not_what_they_say", to).user)
    assert "it is empty" in words and "its data is not image/jpeg" in words and "not base64" in words


def test_s_65_what_was_corrected_and_replaced_is_in_the_report() -> None:
    """Each wrong media type and each unusable image has a diagnostic."""
    report = request("s_65_images_that_are_not_what_they_say", CLAUDE).report
    codes = [item.code for item in report.diagnostics]
    assert codes.count("media_corrected") == 4 and codes.count("media_replaced") >= 4


@pytest.mark.parametrize("to", FAMILIES)
def test_s_65_a_text_file_can_be_read_by_everyone(to: str) -> None:
    """A model that takes no files reads the text of a text file."""
    body = request("s_65_media_of_every_kind", to).body.decode()
    assert "hello text" in body or "aGVsbG8gdGV4dA==" in body


@pytest.mark.parametrize("to", FAMILIES)
def test_s_66_tools_are_declared_whenever_history_holds_calls(to: str) -> None:
    """Stubs, and no tool may be called: nothing is really there."""
    made = request("s_66_calls_without_tools", to, tools=())
    assert heard("s_66_calls_without_tools", to, tools=()).tools == ["gone_tool"]
    choice = made.json.get("tool_choice") or made.json["toolConfig"]["functionCallingConfig"]["mode"]
    assert choice in ("none", "NONE", {"type": "none"})


@pytest.mark.parametrize("to", FAMILIES)
def test_s_67_a_stub_cannot_be_asked_for(to: str) -> None:
    """A stub says that it is gone, and is no choice."""
    history = SCENARIOS["s_66_calls_without_tools"]()
    assert b"no longer available" in render(history, to).body
    with pytest.raises(UsageError, match="gone_tool"):
        render(history, to, tool_choice="gone_tool")


@pytest.mark.parametrize("to", (*FAMILIES, "openrouter:moonshotai/kimi-k2.5"))
def test_s_68_awkward_schemas_are_projected(to: str) -> None:
    """`$ref` siblings, tuples, lists of types, combiners, free objects, odd keys: every tool is there."""
    for strict in (False, True):
        made = request("s_68_tools_with_awkward_schemas", to, strict=strict)
        assert len(heard("s_68_tools_with_awkward_schemas", to, strict=strict).tools) == 12
        assert made.names["ref"] == "ref"


@pytest.mark.parametrize(
    ("to", "tool", "said"),
    [
        (KIMI, "tuple", "tuple items"),
        (OPENAI, "root", "anyOf at the root"),
        (CLAUDE, "root", "anyOf at the root"),
        (CLAUDE, "odd keys", "names are refused"),
        (GEMINI, "tuple", "full JSON Schema"),
        (OPENAI, "string", "not an object"),
    ],
)
def test_s_68_what_was_weakened_is_in_the_report(to: str, tool: str, said: str) -> None:
    """The line names the tool and the part of its schema that the provider refuses."""
    lines = request("s_68_tools_with_awkward_schemas", to).report.changes
    assert any(line.startswith(f"tool {tool}:") and said in line for line in lines)


def test_the_scenarios_of_this_group_are_all_there() -> None:
    """Each of S-52 to S-68 has a history in the matrix, except S-67, which is tested in sessions."""
    known = {name[:4] for name in SCENARIOS}
    assert {f"s_{number}" for number in range(52, 69) if number != 67} <= known
