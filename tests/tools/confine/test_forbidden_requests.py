"""A closed gate: whatever would leave the process is a clear error, wherever connections are opened."""

from __future__ import annotations

import asyncio

import pytest
from tests.testing.agent import dress

from turnout import UsageError, forbid_requests
from turnout.tools.builtin.fetch import Web
from turnout.tools.confine.forbidden_requests import check_request
from turnout.world import google_token


def test_a_session_says_which_request_was_forbidden_and_what_to_use() -> None:
    """The error names the host and the way on, and comes at once, without a retry."""
    with (
        forbid_requests(),
        pytest.raises(UsageError, match=r"a request to api.anthropic.com; .*ScriptedModel"),
    ):
        dress("anthropic:claude-sonnet-5", api_key="k")


def test_tools_and_sign_in_are_behind_the_same_gate() -> None:
    """The fetch tool and the tokens of Google do not get past it either."""

    async def public_address(host: str, port: int) -> list[str]:
        return ["93.184.216.34"]

    with forbid_requests():
        with pytest.raises(UsageError, match=r"example\.com"):
            asyncio.run(Web(resolve=public_address).get("https://example.com/"))
        with pytest.raises(UsageError, match=r"oauth2.googleapis.com"):
            google_token._send_request("https://oauth2.googleapis.com/token")


def test_a_block_ends_as_it_began() -> None:
    """Blocks nest; a call without a block holds until it is undone."""
    check_request("example.com")
    with forbid_requests(allow_loopback=False):
        with forbid_requests(False):
            check_request("example.com")
        with pytest.raises(UsageError):
            check_request("localhost")
    check_request("example.com")
    forbid_requests()
    try:
        check_request("localhost")
        with pytest.raises(UsageError):
            check_request("example.com")
    finally:
        forbid_requests(False)
    check_request("example.com")
