"""Whose key goes where: sources of keys, their renewal, and the addresses that users configure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talk import KEYS, events, everything, session

from turnout import KeyCommand, KeyFile
from turnout.session.events import Complete, Failed
from turnout.session.limits import Timeouts
from turnout.simulate import HttpError


def test_a_missing_key_says_which_variable() -> None:
    """The error names the variable, and no request is made."""
    talk, transport = session(["hi"], environment={})
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and "OPENAI_API_KEY" in str(failed.error)
    assert list(transport.exchanges) == []


def test_keys_come_from_files_commands_and_functions(tmp_path: Any) -> None:
    """Every source of keys ends in the provider's own header."""
    (tmp_path / "key").write_text("from-file\n")
    sources = {
        "from-file": KeyFile(str(tmp_path / "key")),
        "from-function": lambda: "from-function",
        "from-command": KeyCommand(("echo", "from-command")),
    }
    for expected, source in sources.items():
        talk, transport = session(["hi"], "anthropic:claude-sonnet-4-5", environment={}, api_key=source)
        asyncio.run(everything(talk))
        assert transport.exchanges[0].headers["x-api-key"] == expected


def test_a_token_that_ran_out_is_asked_for_again_every_time() -> None:
    """A 401 renews a token from a function, a file or a command: once for each time that it runs out."""
    given = iter(["first", "second", "third"])
    script = ["one", HttpError("auth"), "two", HttpError("auth"), "three"]
    talk, transport = session(script, environment={}, api_key=lambda: next(given))
    for _ in range(3):
        assert isinstance(events(talk)[-1], Complete)
    used = [seen.headers["authorization"].removeprefix("Bearer ") for seen in transport.exchanges]
    assert used == ["first", "first", "second", "second", "third"]


def test_a_token_that_is_refused_when_new_is_an_error() -> None:
    """It is renewed once; then the run says what the provider said."""
    asked: list[int] = []

    async def token() -> str:
        asked.append(1)
        return f"token{len(asked)}"

    talk, transport = session([HttpError("auth")] * 5, environment={}, api_key=token)
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and failed.kind == "auth"
    assert len(asked) == len(transport.exchanges) == 2


def broken() -> str:
    raise KeyError("no such entry")


@pytest.mark.parametrize("source", [KeyFile("/nowhere/key"), KeyCommand(("/nowhere/command",)), broken])
def test_a_source_that_fails_is_no_network_failure(source: Any) -> None:
    """The run says that there is no key, and why; nothing is sent and nothing is waited for."""
    talk, transport = session(["hi"], environment={}, api_key=source)
    failed = asyncio.run(everything(talk))[-1]
    assert isinstance(failed, Failed) and failed.kind == "auth" and "no key for openai" in str(failed.error)
    assert list(transport.exchanges) == []


def test_a_source_that_never_answers_ends_with_the_time_for_the_whole() -> None:
    """A function that hangs costs the turn its time, and no more."""

    async def never() -> str:
        await asyncio.sleep(10**9)
        return "late"

    talk, _ = session(["hi"], environment={}, api_key=never, timeouts=Timeouts(total=60))
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and failed.kind == "timeout"


def test_a_key_of_the_environment_is_not_asked_for_twice() -> None:
    """Nothing could have changed: a 401 fails at once."""
    talk, transport = session([HttpError("auth")] * 3)
    assert isinstance(events(talk)[-1], Failed) and len(transport.exchanges) == 1


def test_a_key_file_is_read_again_after_a_401(tmp_path: Any) -> None:
    """Whoever rotates keys writes the file; the session goes on with the new one."""
    path = tmp_path / "key"
    path.write_text("old")
    talk, transport = session(["hi", HttpError("auth"), "again"], environment={}, api_key=KeyFile(str(path)))

    async def rotating() -> Any:
        await everything(talk)
        path.write_text("new")
        return (await everything(talk))[-1]

    assert isinstance(asyncio.run(rotating()), Complete)
    assert [seen.headers["authorization"] for seen in transport.exchanges] == [
        "Bearer old",
        "Bearer old",
        "Bearer new",
    ]


def test_each_target_has_its_own_key() -> None:
    """By target or by provider; a target's own comes first, the environment last."""
    talk, transport = session(
        ["a", "b", "c", "d"],
        "openai:gpt-5.1",
        fallback=["openai:gpt-4o", "anthropic:claude-sonnet-4-5", "mistral:mistral-large-latest"],
        route="round-robin",
        keys={"openai:gpt-4o": "for-4o", "openai": "for-openai", "anthropic": lambda: "for-claude"},
        environment={"MISTRAL_API_KEY": "for-mistral", "OPENAI_API_KEY": "unused"},
    )
    for _ in range(4):
        assert isinstance(events(talk)[-1], Complete)
    used = [seen.headers.get("x-api-key") or seen.headers["authorization"] for seen in transport.exchanges]
    assert used == ["Bearer for-openai", "Bearer for-4o", "for-claude", "Bearer for-mistral"]


def test_the_base_url_comes_from_the_variables_users_know() -> None:
    """OPENAI_BASE_URL moves the provider; an argument comes first."""
    talk, transport = session(["hi"], environment={**KEYS, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    events(talk)
    assert transport.exchanges[0].url == "http://127.0.0.1:9/v1/chat/completions"


GENERATE = "/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse"


@pytest.mark.parametrize(
    ("place", "variable", "path"),
    [
        ("openai:gpt-5.1", "OPENAI_BASE_URL", "/v1/chat/completions"),
        ("openai-responses:gpt-5.1", "OPENAI_BASE_URL", "/v1/responses"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_BASE_URL", "/v1/messages"),
        (
            "gemini:gemini-2.5-pro",
            "GEMINI_BASE_URL",
            GENERATE,
        ),
        ("mistral:mistral-large-latest", "MISTRAL_BASE_URL", "/v1/chat/completions"),
        ("kimi:kimi-k2.5", "MOONSHOT_BASE_URL", "/v1/chat/completions"),
        ("deepseek:deepseek-chat", "DEEPSEEK_BASE_URL", "/v1/chat/completions"),
        ("openrouter:openai/gpt-4o", "OPENROUTER_BASE_URL", "/v1/chat/completions"),
    ],
)
def test_every_provider_can_be_moved_by_the_variable_that_users_know(
    place: str, variable: str, path: str
) -> None:
    """The variable moves that provider; an argument comes before it."""
    environment = {**KEYS, variable: "http://127.0.0.1:9/v1"}
    talk, transport = session(["hi", "hi"], place, environment=environment)
    assert isinstance(events(talk)[-1], Complete)
    talk.switch(place, base_url="http://127.0.0.1:8/v1")
    assert isinstance(events(talk)[-1], Complete)
    assert [seen.url for seen in transport.exchanges] == [
        f"http://127.0.0.1:9{path}",
        f"http://127.0.0.1:8{path}",
    ]
