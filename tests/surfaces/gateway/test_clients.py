"""How each client is pointed at the gateway."""

from __future__ import annotations

import json
import tomllib

import pytest

from turnout.errors import UsageError
from turnout.surfaces.gateway.clients import CLIENTS, client_setup, setup_text

BASE = "http://127.0.0.1:8484"


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_learns_the_address_and_the_token(client: str) -> None:
    """In variables or in a file; the token is shown as a command, never as text."""
    setup = client_setup(client, BASE, "TOKEN", "kimi:kimi-k2.5")
    text = setup_text(client_setup(client, BASE, "$(cat token)", "kimi:kimi-k2.5"), "$(cat token)")
    assert BASE in text and '="$(cat token)"' in text
    assert "TOKEN" in setup.variables.values()
    assert "kimi-k2.5" in json.dumps([setup.variables, setup.content, setup.arguments])


def test_files_are_valid_in_their_formats() -> None:
    """TOML for codex, JSON for opencode and pi."""
    assert tomllib.loads(client_setup("codex", BASE, "t", "m").content)["model"] == "m"
    for client in ("opencode", "pi"):
        assert json.loads(client_setup(client, BASE, "t", "m").content)


def test_an_unknown_client_is_named_with_the_known_ones() -> None:
    """The list is the answer."""
    with pytest.raises(UsageError, match="claude-code"):
        client_setup("emacs", BASE, "t")
