"""`turnout login` and `turnout logout`: a key is hidden, tried, kept and deleted."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, user
from tests.world.github_player import GITHUB_TOKEN, GitHubScript, playing_github, write_json
from tests.world.raw_server import Answer, RawServer, Request, raw_server, reply

KEY = "sk-loopback-0123456789abcdef"


@contextmanager
def in_background(context: Any) -> Iterator[Any]:
    """A server of these tests in a loop of its own, since the command has one too."""
    ready, over = threading.Event(), asyncio.Event()
    found: list[Any] = []

    async def serve() -> None:
        async with context as made:
            found.extend([made, asyncio.get_running_loop()])
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield found[0]
    finally:
        found[1].call_soon_threadsafe(over.set)
        thread.join(10)


def provider_answer(keys: tuple[str, ...] = (KEY,), statuses: dict[str, int] | None = None) -> Answer:
    """A provider that lists its models for valid keys, and answers prompts; `statuses` are by key."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        status = (statuses or {}).get(key, 200 if key in keys else 401)
        if request.line.startswith("GET") and status != 401:
            write_json(writer, 200, {"object": "list", "data": [{"id": "gpt-5.1"}]})
        elif status == 200:
            writer.write(reply(f"Hello from {key}."))
        else:
            write_json(writer, status, {"error": {"message": f"refused {key}", "type": "x", "code": None}})

    return answer


@pytest.fixture
def provider() -> Iterator[RawServer]:
    with in_background(raw_server(provider_answer())) as made:
        yield made


def login(somebody: User, name: str, url: str, key: str = KEY, *more: str) -> Any:
    words = ("login", name, "--store", "file", "--base-url", f"{url}/v1", *more)
    return run(somebody, *words, stdin=f"{key}\n")


def accounts_file(somebody: User) -> Path:
    return somebody.home / ".config" / "turnout" / "accounts.json"


def test_a_key_that_works_is_kept_and_used(tmp_path: Path, provider: RawServer) -> None:
    """After `login`, a prompt goes to the address of the account with its key, and no variable is needed."""
    somebody = user(tmp_path)
    done = login(somebody, "openai", provider.url)
    assert done.code == 0 and "signed in to openai" in done.out
    assert KEY not in done.out + done.err
    asked = run(somebody, "run", "-p", "hi", "-m", "openai:gpt-5.1", "--no-store", stdin="")
    assert asked.code == 0 and "Hello from" in asked.out, asked.err
    assert "signed in: openai" in run(somebody, "providers", "openai").out


def test_a_key_that_is_refused_is_not_kept(tmp_path: Path, provider: RawServer) -> None:
    """The provider's words are shown without the key, the exit code is 3, and nothing is written."""
    somebody = user(tmp_path)
    done = login(somebody, "openai", provider.url, "sk-wrong-0123456789abcdef")
    assert done.code == 3 and "refuses the key" in done.err and "not kept" in done.err
    assert "sk-wrong" not in done.err and not accounts_file(somebody).exists()


def test_a_key_that_cannot_be_tried_is_kept_on_request_only(tmp_path: Path) -> None:
    """Without a network the key may be right or wrong: --no-check keeps it."""
    somebody = user(tmp_path)
    done = login(somebody, "openai", "http://127.0.0.1:1")
    assert done.code == 3 and "--no-check" in done.err and not accounts_file(somebody).exists()
    assert login(somebody, "openai", "http://127.0.0.1:1", KEY, "--no-check").code == 0


def test_a_claude_subscription_is_not_an_api_key(tmp_path: Path) -> None:
    """Its terms allow no other programs (decision 0003); nothing is sent, and nothing is kept."""
    somebody = user(tmp_path)
    done = run(somebody, "login", "anthropic", "--no-check", stdin="sk-ant-oat01-abcdefgh\n")
    assert done.code == 3 and "subscription" in done.err and not accounts_file(somebody).exists()


def test_logout_deletes_the_account_and_its_key(tmp_path: Path, provider: RawServer) -> None:
    """An account that is not there is an error that lists those that are."""
    somebody = user(tmp_path)
    login(somebody, "openai", provider.url)
    login(somebody, "openai@work", provider.url)
    wrong = run(somebody, "logout", "openai@home")
    assert wrong.code == 2 and "openai@work" in wrong.err
    assert run(somebody, "logout", "openai").code == 0
    assert [each["name"] for each in json.loads(accounts_file(somebody).read_text())] == ["openai@work"]
    assert run(somebody, "logout", "--all").code == 0 and KEY not in accounts_file(somebody).read_text()


@pytest.mark.parametrize("status", [401, 402, 429])
def test_accounts_of_one_provider_take_turns(tmp_path: Path, status: int) -> None:
    """When the first account is refused, has no money or is rate limited, the second answers."""
    answer = provider_answer(("key-work-0123", "key-home-0123"))
    somebody = user(tmp_path)
    with in_background(raw_server(answer)) as made:
        login(somebody, "openai@work", made.url, "key-work-0123")
        login(somebody, "openai@home", made.url, "key-home-0123")
        made._answer = provider_answer(("key-home-0123",), {"key-work-0123": status})
        asked = run(
            somebody, "run", "-p", "hi", "-m", "openai:gpt-5.1", "--no-store", "--output-format", "json"
        )
    assert asked.code == 0, asked.err
    assert "openai@home:gpt-5.1" in asked.out and "openai@work" in asked.err


def test_copilot_is_signed_in_by_a_code_and_used(tmp_path: Path) -> None:
    """The code is shown, GitHub's token is exchanged, and the seat's address and token serve requests."""
    script = GitHubScript(code={"interval": 1})
    with in_background(playing_github(script)) as github:
        somebody = user(tmp_path)
        done = run(somebody, "login", "copilot", "--store", "file", "--github-url", github.url)
        assert done.code == 0 and "ABCD-1234" in done.err and "signed in to copilot" in done.out, done.err
        assert GITHUB_TOKEN not in done.out + done.err and script.seats[0] not in done.out + done.err
        run(somebody, "run", "-p", "hi", "-m", "copilot:gpt-4.1", "--no-store", stdin="")
        sent = [each for each in github.requests if each.line.startswith("POST /copilot/")]
    assert sent and sent[0].headers["authorization"] == f"Bearer {script.seats[0]}"


def test_a_denied_code_ends_with_an_error(tmp_path: Path) -> None:
    """The user said no in the browser: the message says so, and nothing is kept."""
    script = GitHubScript([{"error": "access_denied"}], code={"interval": 1})
    with in_background(playing_github(script)) as github:
        somebody = user(tmp_path)
        done = run(somebody, "login", "copilot", "--store", "file", "--github-url", github.url)
    assert done.code != 0 and "denied" in done.err and not accounts_file(somebody).exists()


def test_a_stored_key_is_in_no_tool_and_no_log(tmp_path: Path, provider: RawServer) -> None:
    """Neither the debug log nor what is printed holds the key, and it is in no variable."""
    import os

    somebody = user(tmp_path)
    login(somebody, "openai", provider.url)
    log = tmp_path / "debug.log"
    words = ("run", "-p", "hi", "-m", "openai:gpt-5.1", "--no-store", "--debug", str(log))
    asked = run(somebody, *words, "--output-format", "stream-json")
    assert asked.code == 0 and "Hello from" in asked.out
    assert KEY not in asked.out + asked.err + log.read_text()
    assert KEY not in "".join(os.environ.values())
