"""Keys of stored accounts: found last, sent to their own host, renewed once for the whole machine."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.world.github_player import GITHUB_TOKEN, GitHubScript, playing_github

from turnout.errors import ProviderError
from turnout.targets.target import find_target
from turnout.world.accounts import Account, Accounts, account_named
from turnout.world.keys import Keys
from turnout.world.stored_logins import CopilotToken

ASK_FOR_TOKEN = """
import asyncio, sys
from turnout.world.accounts import Accounts
from turnout.world.stored_logins import CopilotToken
accounts = Accounts.of({"HOME": sys.argv[1]})
print(asyncio.run(CopilotToken(accounts, "copilot").current_token()))
"""


def stored(home: Path, *names: str) -> Accounts:
    accounts = Accounts.of({"HOME": str(home)})
    assert accounts is not None
    for name in names:
        accounts.save_account(account_named(name)[0], f"key-of-{name}", "file")
    return accounts


def header(home: Path, target: str, base_url: str = "", **environment: str) -> str:
    keys = Keys({"HOME": str(home), **environment})
    headers = asyncio.run(keys.headers(find_target(target, base_url=base_url), required=False))
    return headers.get("authorization", "").removeprefix("Bearer ")


def test_a_stored_key_comes_after_arguments_and_variables(tmp_path: Path) -> None:
    """Explicit argument, variable, stored login: in this order."""
    stored(tmp_path, "openai")
    environment = {"HOME": str(tmp_path), "OPENAI_API_KEY": "variable"}
    target = find_target("openai:gpt-5.1")
    given = asyncio.run(Keys(environment, {"openai": "argument"}).headers(target))
    assert given["authorization"] == "Bearer argument"
    assert header(tmp_path, "openai:gpt-5.1", OPENAI_API_KEY="variable") == "variable"
    assert header(tmp_path, "openai:gpt-5.1") == "key-of-openai"


def test_an_account_that_is_named_is_the_one_used(tmp_path: Path) -> None:
    """`openai@work` uses the login of that name, also where a variable holds another key."""
    stored(tmp_path, "openai@work", "openai@home")
    assert header(tmp_path, "openai@home:gpt-5.1") == "key-of-openai@home"
    assert header(tmp_path, "openai@work:gpt-5.1", OPENAI_API_KEY="variable") == "key-of-openai@work"
    assert header(tmp_path, "openai@else:gpt-5.1", OPENAI_API_KEY="variable") == "variable"


def test_one_login_serves_every_api_that_takes_the_same_key(tmp_path: Path) -> None:
    """OpenAI's Chat and Responses are two providers of ours and one account of the user."""
    stored(tmp_path, "openai")
    assert header(tmp_path, "openai-responses:gpt-5.1") == "key-of-openai"
    assert header(tmp_path, "mistral:mistral-large-latest") == ""


def test_a_stored_key_is_sent_to_no_other_host(tmp_path: Path) -> None:
    """A base URL that someone set does not get the key of the real provider."""
    stored(tmp_path, "openai")
    assert header(tmp_path, "openai:gpt-5.1", base_url="https://elsewhere.example/v1") == ""


def test_an_environment_without_a_home_has_no_accounts() -> None:
    """A world of one's own, as tests make them, does not read the accounts of the person who runs it."""
    assert Accounts.of({}) is None


def test_a_key_that_was_replaced_meanwhile_is_used_after_a_refusal(tmp_path: Path) -> None:
    """After a 401 the account is read again; with the same key in it, the refusal stands."""
    accounts = stored(tmp_path, "openai")
    keys, target = Keys({"HOME": str(tmp_path)}), find_target("openai:gpt-5.1")
    asyncio.run(keys.headers(target))
    assert keys.forget(target) is False
    asyncio.run(keys.headers(target))
    accounts.save_account(account_named("openai")[0], "a-new-key", "file")
    assert keys.forget(target) is True
    assert asyncio.run(keys.headers(target))["authorization"] == "Bearer a-new-key"
    assert {"a-new-key", "key-of-openai"} <= set(keys.secrets())


# A Copilot seat


def seat(home: Path, github: str, **fields: object) -> Accounts:
    accounts = stored(home)
    account = Account("copilot", f"{github}/copilot", "github", github=github)
    accounts.save_account(replace(account, **fields), GITHUB_TOKEN, "file")
    return accounts


def test_a_token_is_kept_until_its_time_and_renewed_then(tmp_path: Path) -> None:
    """Requests within the time use one token; the next one after it has a new token."""
    now = [1000.0]

    async def run() -> list[str]:
        script = GitHubScript()
        async with playing_github(script) as github:
            token = CopilotToken(seat(tmp_path, github.url), "copilot", wall_clock=lambda: now[0])
            got = [await token.current_token(), await token.current_token()]
            now[0] += 1501
            return [*got, await token.current_token()]

    one, same, other = asyncio.run(run())
    assert one == same != other


def test_a_clock_that_was_set_back_renews_the_token(tmp_path: Path) -> None:
    """A token would look younger than it is."""
    now = [1_000_000.0]

    async def run() -> int:
        script = GitHubScript()
        async with playing_github(script) as github:
            token = CopilotToken(seat(tmp_path, github.url), "copilot", wall_clock=lambda: now[0])
            await token.current_token()
            now[0] -= 86_400
            await token.current_token()
            return len(script.seats)

    assert asyncio.run(run()) == 2


def test_a_refused_token_is_renewed_once_for_all_sessions(tmp_path: Path) -> None:
    """Three sessions whose token is refused make one exchange; all go on with the new token."""

    async def run() -> tuple[set[str], int]:
        script = GitHubScript(delay=0.05)
        async with playing_github(script) as github:
            accounts = seat(tmp_path, github.url)
            sessions = [CopilotToken(accounts, "copilot") for _ in range(3)]
            old = await sessions[0].current_token()
            for each in sessions:
                assert each.note_refused(old)
            got = await asyncio.gather(*(each.current_token() for each in sessions))
            return set(got), len(script.seats)

    tokens, exchanges = asyncio.run(run())
    assert len(tokens) == 1 and exchanges == 2  # the first one, and its successor


def test_two_processes_renew_a_token_once(tmp_path: Path) -> None:
    """The second waits for the first, and takes the new token from the file."""

    async def run() -> tuple[list[str], int]:
        script = GitHubScript(delay=1.0)
        async with playing_github(script) as github:
            seat(tmp_path, github.url)
            words = (sys.executable, "-c", ASK_FOR_TOKEN, str(tmp_path))
            pipe = asyncio.subprocess.PIPE
            started = [await asyncio.create_subprocess_exec(*words, stdout=pipe) for _ in range(2)]
            outs = await asyncio.gather(*(each.communicate() for each in started))
            return [out.decode().strip() for out, _ in outs], len(script.seats)

    tokens, exchanges = asyncio.run(run())
    assert tokens[0] == tokens[1] == "seat-1-0123456789" and exchanges == 1


def test_a_process_that_is_killed_leaves_no_lock(tmp_path: Path) -> None:
    """The next process renews at once: the system frees a lock with its process."""
    accounts = stored(tmp_path, "openai")
    lock = accounts.renewal_lock(Account("copilot", ""))
    hold = "import sys,time; from pathlib import Path; from turnout.world.file_lock import locked_file\n"
    hold += "with locked_file(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    held = subprocess.Popen((sys.executable, "-c", hold, str(lock)), stdout=subprocess.PIPE)
    assert held.stdout is not None and held.stdout.readline() == b"held\n"
    held.kill()
    held.communicate()

    async def run() -> str:
        async with playing_github(GitHubScript()) as github:
            return await CopilotToken(seat(tmp_path, github.url), "copilot").current_token()

    assert asyncio.run(run()) == "seat-1-0123456789"


def test_a_sign_in_that_github_ended_asks_for_a_new_one(tmp_path: Path) -> None:
    """The error names the command, and no token is written."""

    async def run() -> Accounts:
        async with playing_github(GitHubScript(seat_status=401)) as github:
            accounts = seat(tmp_path, github.url)
            with pytest.raises(ProviderError, match="turnout login copilot"):
                await CopilotToken(accounts, "copilot").current_token()
            return accounts

    found = asyncio.run(run()).find_account("copilot")
    assert found is not None and not found.token


def test_a_token_of_an_account_that_was_deleted_is_not_written_back(tmp_path: Path) -> None:
    """Sign-out in one process wins over a renewal in another."""
    accounts = stored(tmp_path, "openai")
    gone = Account("copilot", "https://x.example")
    accounts.update_account(gone)
    assert accounts.find_account("copilot") is None
