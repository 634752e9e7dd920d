"""What servers answer, as outcomes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.model import Media, Outcome, Text
from turnout.tools.mcp.results import MOST_MEDIA, outcome_of


def result(*content: Any, **more: Any) -> Outcome:
    return outcome_of({"content": [*content], **more})


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_texts_images_and_sounds_keep_their_order() -> None:
    """Blocks come in the order of the result."""
    image = {"type": "image", "data": "aWk=", "mimeType": "image/png"}
    sound = {"type": "audio", "data": "YWE=", "mimeType": "audio/wav"}
    found = result(text("look"), image, sound, text("heard?"))
    assert found.content == (
        Text("look"),
        Media("image/png", "aWk="),
        Media("audio/wav", "YWE="),
        Text("heard?"),
    )


def test_an_error_is_an_outcome_and_keeps_its_words() -> None:
    """`isError` makes an error outcome with the same text."""
    assert result(text("no such zone"), isError=True) == Outcome("error", "no such zone")


def test_structured_content_is_json_text() -> None:
    """Where no text repeats it."""
    assert result(structuredContent={"a": 1}).text == '{"a":1}'
    assert result(text("Here it is."), structuredContent={"a": 1}).text == 'Here it is.\n{"a":1}'


@pytest.mark.parametrize(
    ("said", "structured"),
    [
        (['{"a": 1}'], {"a": 1}),
        (["hello"], {"result": "hello"}),
        (["3"], {"result": 3}),
        (["all of the file"], {"content": "all of the file"}),
        (["1", "2"], {"result": [1, 2]}),
        (["a", "b"], {"result": ["a", "b"]}),
    ],
)
def test_structured_content_that_was_said_as_text_is_not_repeated(said: list[str], structured: Any) -> None:
    """Servers send it twice, for older clients."""
    assert result(*map(text, said), structuredContent=structured).text == "\n".join(said)


def test_a_link_is_told_and_not_followed() -> None:
    """The model reads the address, nothing is fetched."""
    link = {
        "type": "resource_link",
        "uri": "file:///a",
        "name": "a",
        "mimeType": "text/plain",
        "description": "An a.",
    }
    assert result(link).text == "[resource file:///a (a, text/plain)] An a."


def test_embedded_resources_are_text_or_media() -> None:
    """By what the resource holds."""
    words = {"type": "resource", "resource": {"uri": "demo://1", "text": "one"}}
    image = {"type": "resource", "resource": {"uri": "demo://2", "blob": "aWk=", "mimeType": "image/png"}}
    assert result(words, image).content == (
        Text("demo://1\n\none"),
        Media("image/png", "aWk=", name="demo://2"),
    )


def test_nothing_is_said_to_be_nothing() -> None:
    """An empty result is a note, not an empty text."""
    assert result().text == "(the tool returned nothing)"


def test_a_flood_of_images_is_cut() -> None:
    """Beyond the limit they are counted."""
    image = {"type": "image", "data": "aWk=", "mimeType": "image/png"}
    found = result(*[image] * 500).content
    assert found == (*[Media("image/png", "aWk=")] * MOST_MEDIA, Text("[480 more images or files left out]"))


def test_a_result_of_very_many_parts_is_a_result_of_one() -> None:
    """Neighbouring texts are joined."""
    assert result(*[text("a")] * 100_000).content == (Text("\n".join("a" * 100_000)),)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(["text", "image", "audio", "resource", "resource_link", "new"])
PARTS = st.dictionaries(
    st.sampled_from(["type", "text", "data", "mimeType", "uri", "resource", "name"]), JSON | KINDS, max_size=5
)


@given(
    st.fixed_dictionaries({}, optional={"content": st.lists(PARTS | JSON) | JSON, "structuredContent": JSON})
)
def test_any_answer_is_an_outcome(answer: dict[str, Any]) -> None:
    """A server may send anything; none of it raises."""
    assert outcome_of(answer).content
