"""A protocol is a value: one folder and one line make a fifth family."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.build import conversation, model, user
from tests.wire.made_up_protocol import LineDialect

from turnout.errors import UsageError
from turnout.model import Origin
from turnout.providers.provider import Provider
from turnout.simulate.provider import SimulatedProvider
from turnout.targets.reply import decode
from turnout.targets.request import render
from turnout.targets.target import Target
from turnout.wire.check import check
from turnout.wire.protocol import PROTOCOLS, find_protocol
from turnout.wire.request import ModelFacts

TALKER = Target(
    Origin("talker", "", "one"),
    Provider(name="talker", base_url="https://talker.example/v1", dialect=LineDialect()),
    LineDialect(),
    ModelFacts(),
)


@pytest.fixture(autouse=True)
def lines_are_a_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROTOCOLS, "lines", "tests.wire.made_up_protocol")


@pytest.mark.parametrize("name", ["chat", "responses", "anthropic", "gemini", "ollama"])
def test_every_name_finds_its_protocol(name: str) -> None:
    """The registry holds names of modules, so each is loaded once here."""
    assert find_protocol(name).name == name


def test_an_unknown_name_says_which_are_known() -> None:
    """A misspelt name is the caller's mistake."""
    with pytest.raises(UsageError, match="no protocol is called 'chats'; known are chat, responses"):
        find_protocol("chats")


def test_a_history_is_rendered_in_a_new_protocol() -> None:
    """Its encoder and its path are used without a change anywhere else."""
    request = render(conversation(user("Hello."), model("Hi."), user("And?")), TALKER)

    assert request.url == "https://talker.example/v1/talk"
    assert request.json == {"lines": ["user: Hello.", "model: Hi.", "user: And?"]}
    assert request.params == request.json


def test_a_reply_in_a_new_protocol_is_decoded() -> None:
    """Whole or streamed, its decoder is used."""
    assert decode(TALKER, b'{"says": "Hi."}').text == "Hi."
    assert decode(TALKER, b'data: {"says": "H"}\n\ndata: {"says": "i."}\n\n').text == "Hi."


def test_a_new_protocol_brings_its_own_rules() -> None:
    """`check` asks the protocol where its own tables do not have the name."""
    assert check("lines", {"lines": ["user: Hello."]}) == []
    assert [problem.rule for problem in check("lines", {"lines": []})] == ["LIN-01"]


def test_the_simulator_answers_in_a_new_protocol() -> None:
    """It finds the protocol by its path, checks by its rules and writes with its reply encoder."""
    provider = SimulatedProvider("lines", ["Hi."], asks_for_key=False)

    refused = provider.answer("https://talker.example/v1/talk", {}, b'{"lines": []}')
    answered = provider.answer("https://talker.example/v1/talk", {}, b'{"lines": ["user: Hello."]}')

    assert [problem.rule for problem in refused.problems] == ["LIN-01"]
    assert answered.body == b'{"says":"Hi."}'


def test_the_path_names_the_model_only_where_the_request_does_not() -> None:
    """Code Assist names the model in its envelope, so the path leaves it out."""
    gemini = find_protocol("gemini")

    assert gemini.url("https://a", "m", stream=True) == "https://a/models/m:streamGenerateContent?alt=sse"
    assert (
        gemini.url("https://a/v1internal", "m", names_model=False) == "https://a/v1internal:generateContent"
    )
    assert find_protocol("anthropic").url("https://a/v1", "m") == "https://a/v1/messages"


def test_only_the_protocol_that_is_spoken_is_loaded() -> None:
    """To render for Anthropic loads neither the encoder of Gemini nor any rule."""
    code = (
        "import sys, turnout; turnout.render(turnout.ingest([{'role': 'user', 'content': 'hi'}]), "
        "'anthropic:claude-sonnet-4-5'); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = loaded.split()
    assert "turnout.wire.anthropic.encoder" in names
    assert "turnout.wire.gemini.encoder" not in names
    assert not [name for name in names if name.startswith("turnout.wire.check")]
