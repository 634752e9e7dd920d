"""Sign-in at GitHub by a code: what it says at each end, how it waits, and how long a token counts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.world.github_player import GITHUB_TOKEN, GitHubScript, playing_github

from turnout.errors import ProviderError
from turnout.world.device_login import (
    DeviceCode,
    DeviceLogin,
    SignInFailed,
    read_seat,
    seat_request,
    sign_in_by_device,
)
from turnout.world.small_request import SmallAnswer

PENDING = {"error": "authorization_pending"}


class Waits:
    """A clock that goes forward when someone waits."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def sign_in(script: GitHubScript, shown: list[DeviceCode] | None = None) -> tuple[str, Waits]:
    waits = Waits()

    async def run() -> str:
        async with playing_github(script) as github:
            show = (shown if shown is not None else []).append
            login = DeviceLogin(github.url)
            return await sign_in_by_device(login, show, sleep=waits.sleep, clock=lambda: waits.now)

    return asyncio.run(run()), waits


def test_the_user_is_shown_a_code_and_the_token_comes_once_they_agree() -> None:
    """Polls go on while GitHub says that the user has not agreed yet, at the interval that it named."""
    shown: list[DeviceCode] = []
    token, waits = sign_in(GitHubScript([PENDING, PENDING, {"access_token": GITHUB_TOKEN}]), shown)
    assert token == GITHUB_TOKEN and waits.waits == [5.0, 5.0, 5.0]
    assert shown[0].user_code == "ABCD-1234" and shown[0].url.endswith("/login/device")


@pytest.mark.parametrize("named", [{}, {"interval": 12}])
def test_slow_down_makes_every_later_wait_longer(named: dict[str, Any]) -> None:
    """By five seconds, or as GitHub says (RFC 8628 3.5)."""
    script = GitHubScript([{"error": "slow_down", **named}, PENDING, {"access_token": GITHUB_TOKEN}])
    _, waits = sign_in(script)
    longer = float(named.get("interval", 10))
    assert waits.waits == [5.0, longer, longer]


def test_a_busy_github_does_not_end_a_sign_in() -> None:
    """A 502 or a 429 between two polls is waited out: the code stays valid."""
    token, waits = sign_in(GitHubScript([502, 429, {"access_token": GITHUB_TOKEN}]))
    assert token == GITHUB_TOKEN and len(waits.waits) == 3


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("access_denied", "denied"),
        ("expired_token", "expired"),
        ("device_flow_disabled", "administrator"),
        ("incorrect_client_credentials", "TURNOUT_GITHUB_CLIENT_ID"),
        ("something_new", "something_new"),
    ],
)
def test_a_sign_in_that_github_ends_says_why(word: str, said: str) -> None:
    """The message has GitHub's reason and the next step, in words."""
    with pytest.raises(SignInFailed, match=said) as failed:
        sign_in(GitHubScript([PENDING, {"error": word}]))
    assert failed.value.reason == word


def test_a_code_that_nobody_types_expires_by_our_own_clock() -> None:
    """The polls are bounded by `expires_in`, also if GitHub would say `pending` for ever."""
    with pytest.raises(SignInFailed) as failed:
        sign_in(GitHubScript([PENDING], code={"expires_in": 60, "interval": 7}))
    assert failed.value.reason == "expired_token"


def test_a_github_that_cannot_be_reached_is_named() -> None:
    """Nothing is shown, and the error names the address."""
    login = DeviceLogin("http://127.0.0.1:1")
    with pytest.raises(SignInFailed, match=r"127\.0\.0\.1:1"):
        asyncio.run(sign_in_by_device(login, lambda _: None))


def test_a_page_in_place_of_a_code_is_an_error() -> None:
    """A proxy's login page with status 200 does not count as a code."""
    with pytest.raises(SignInFailed, match="HTTP 200"):
        DeviceLogin().read_code(SmallAnswer(200, {}, b"<html>Welcome</html>"), 0.0)


@pytest.mark.parametrize(
    ("github", "api"),
    [
        ("https://github.com", "https://api.github.com/copilot_internal/v2/token"),
        ("https://acme.ghe.com", "https://api.acme.ghe.com/copilot_internal/v2/token"),
        ("https://git.acme.example", "https://git.acme.example/api/v3/copilot_internal/v2/token"),
    ],
)
def test_the_exchange_goes_to_the_api_of_the_same_github(github: str, api: str) -> None:
    """A GitHub token is sent to the GitHub that it is of."""
    assert seat_request(github, "t").url == api


def seat_seconds(body: bytes, headers: dict[str, str], now: float) -> float:
    return read_seat(SmallAnswer(200, headers, body), now).seconds


def test_a_wrong_clock_does_not_shorten_a_token() -> None:
    """What GitHub says in seconds counts; else the end of the token is compared with GitHub's own date."""
    day = {"date": "Mon, 16 Nov 2026 00:00:00 GMT"}  # 1794787200
    for ours in (0.0, 1794787200.0, 1794787200.0 + 86_400 * 30):
        assert seat_seconds(b'{"token":"t","refresh_in":1500,"expires_at":5}', {}, ours) == 1500
        assert seat_seconds(b'{"token":"t","expires_at":1794789000}', day, ours) == 1740
    assert seat_seconds(b'{"token":"t","expires_at":1794789000}', {}, 1794787200.0) == 1740
    assert seat_seconds(b'{"token":"t","expires_at":1}', {}, 1794787200.0) == 30  # never renewed in a circle


@pytest.mark.parametrize(
    ("status", "said"), [(401, "turnout login"), (403, "no Copilot seat"), (500, "retry")]
)
def test_a_refused_exchange_says_what_to_do(status: int, said: str) -> None:
    """A sign-in that ended, a missing seat and a broken server are different errors."""
    with pytest.raises(ProviderError, match=said):
        read_seat(SmallAnswer(status, {}, b"{}"), 0.0)


def test_a_seat_names_no_address_over_plain_http() -> None:
    """A token would be readable on the way; an address without TLS is left out."""
    body = b'{"token":"t","refresh_in":60,"endpoints":{"api":"http://evil.example"}}'
    assert read_seat(SmallAnswer(200, {}, body), 0.0).api == ""
