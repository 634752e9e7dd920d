"""Keys of clients: tokens, rates and budgets."""

from __future__ import annotations

import calendar
from pathlib import Path

import pytest

from turnout.errors import ProviderError, UsageError
from turnout.surfaces.gateway.access import AccessList, ClientAccess, own_token, period_start
from turnout.surfaces.gateway.guard import MAX_FAILURES
from turnout.surfaces.gateway.memory import GatewayMemory
from turnout.surfaces.gateway.values import Request
from turnout.world.gateway_settings import GatewayKeySettings, GatewaySettings

TOKEN = "a token of sixteen characters"


def access(**limits: object) -> tuple[AccessList, ClientAccess]:
    key = GatewayKeySettings(token_variable="T", **limits)  # type: ignore[arg-type]
    return AccessList("own", GatewaySettings(keys={"ci": key}), {"T": TOKEN}), ClientAccess("ci", key)


def asked(token: str, peer: str = "127.0.0.1") -> Request:
    return Request("GET", "/", headers={"authorization": f"Bearer {token}"}, peer=peer)


def test_a_token_names_its_client() -> None:
    """The gateway's own token is the owner's; any other is nobody's."""
    listed, _ = access()
    for token, name in ((TOKEN, "ci"), ("own", "owner")):
        request = asked(token)
        assert listed.admit(request, 0.0) is None and request.access.name == name
    refusal = listed.admit(asked("no"), 0.0)
    assert refusal is not None and refusal.status == 401 and "api_key_name" in refusal.message


def test_an_address_that_guesses_is_blocked() -> None:
    """On loopback a right token still counts: all users of the machine share that address."""
    listed, _ = access()
    for peer, status in (("10.0.0.9", 429), ("127.0.0.1", None)):
        for _ in range(MAX_FAILURES):
            listed.admit(asked("no", peer), 0.0)
        refusal = listed.admit(asked(TOKEN, peer), 1.0)
        assert (refusal.status if refusal else None) == status


def test_tokens_a_minute_are_counted(tmp_path: Path) -> None:
    """The next minute is a new one."""
    listed, client = access(tokens_per_minute=100)
    memory = GatewayMemory(tmp_path / "m.db")
    listed.check_limits(client, "x", memory, 0.0)
    listed.note_use("ci", 100, 0.0, 1.0)
    with pytest.raises(ProviderError) as caught:
        listed.check_limits(client, "x", memory, 2.0)
    assert caught.value.kind == "rate_limit" and caught.value.retry_after == pytest.approx(58)
    listed.check_limits(client, "x", memory, 61.0)


@pytest.mark.parametrize("period", ["day", "month"])
def test_a_period_begins_at_midnight(period: str) -> None:
    """In UTC; of the first day for a month."""
    now = calendar.timegm((2026, 11, 16, 21, 30, 5))
    day = 16 if period == "day" else 1
    assert period_start(period, now) == calendar.timegm((2026, 11, day, 0, 0, 0))
    assert period_start("total", now) == 0


def test_a_key_without_a_token_is_a_mistake(tmp_path: Path) -> None:
    """It would let everyone in, or no one."""
    for key in (GatewayKeySettings(), GatewayKeySettings(token_file=str(tmp_path / "none"))):
        with pytest.raises(UsageError, match="ci"):
            AccessList("own", GatewaySettings(keys={"ci": key}), {})


def test_our_token_is_made_once_and_is_private(tmp_path: Path) -> None:
    """The variable wins over the file."""
    path = tmp_path / "token"
    made, is_new = own_token({}, path)
    assert is_new and len(made) > 64 and path.stat().st_mode & 0o777 == 0o600
    assert own_token({}, path) == (made, False)
    assert own_token({"TURNOUT_GATEWAY_TOKEN": "mine"}, path) == ("mine", False)
