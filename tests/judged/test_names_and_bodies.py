"""Names as people write them, and bodies as they have them in hand."""

from __future__ import annotations

from typing import Any

import pytest

import turnout

ASKED: dict[str, Any] = {"role": "user", "content": "hi"}
STRAY = {"role": "tool", "tool_call_id": "call_1", "content": "42"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("openai_chat", "openai"),
        ("OpenAI Responses", "openai-responses"),
        ("Azure OpenAI", "azure"),
        ("llama_cpp", "llamacpp"),
        ("LM_Studio", "lmstudio"),
        ("vertex-ai", "vertex"),
        ("z.ai", "zai"),
    ],
)
def test_separators_and_case_do_not_matter_in_names(written: str, meant: str) -> None:
    """What `check` takes as a name, `render` and `ingest` take too."""
    history = turnout.ingest([], format=written)
    history.user("hi")
    assert turnout.render(history, to=f"{written}:m").url == turnout.render(history, to=f"{meant}:m").url
    assert turnout.check(written, turnout.render(history, to=f"{meant}:m").body) == []


def test_a_provider_that_nobody_knows_is_answered_in_sentences() -> None:
    """The list of known ones ends before the way on begins."""
    with pytest.raises(turnout.UsageError, match=r"compatible\. For any other server"):
        turnout.render(turnout.ingest([ASKED]), to="zzzz:m")


@pytest.mark.parametrize("api", [None, 5, b"openai"])
def test_an_api_has_a_name(api: Any) -> None:
    """Anything else is the caller's mistake, and said so."""
    with pytest.raises(turnout.UsageError, match="not the name of an API"):
        turnout.check(api, {"messages": [ASKED]})


@pytest.mark.parametrize("api", ["openai", "mistral", "kimi"])
def test_a_bare_list_is_checked_as_the_messages_of_a_body(api: str) -> None:
    """The list that `ingest` takes, `check` takes."""
    assert turnout.check(api, [ASKED]) == []
    assert turnout.check(api, [ASKED, STRAY]) == turnout.check(api, {"messages": [ASKED, STRAY]}) != []


def test_a_bare_list_goes_where_its_api_wants_it() -> None:
    """`input` and `contents` are lists of messages too."""
    output = {"type": "function_call_output", "call_id": "call_1", "output": "42"}
    assert [problem.rule for problem in turnout.check("openai-responses", [ASKED, output])] == ["OAR-02"]
    assert turnout.check("gemini", [{"role": "user", "parts": [{"text": "hi"}]}]) == []


class Answered:
    """A message as SDKs answer with: more fields than were set."""

    def model_dump(self, *, exclude_unset: bool = False, **_: Any) -> dict[str, Any]:
        said = {"role": "assistant", "content": "hello"}
        return said if exclude_unset else {**said, "tool_calls": None, "function_call": None}


def test_an_sdks_message_is_checked_as_the_sdk_would_send_it() -> None:
    """Fields that nobody set are not sent."""
    assert turnout.check("openai", {"model": "gpt-5.1", "messages": [ASKED, Answered(), ASKED]}) == []
