"""How a client is pointed at the gateway, as `turnout serve --for CLIENT` prints it."""

from __future__ import annotations

from turnout.surfaces.gateway.clients import client_setup, setup_text

ADDRESS = "http://127.0.0.1:8484"
TOKEN = "$(cat ~/.local/share/turnout/gateway-token)"


def client_block(client: str) -> str:
    """What the command prints, as a block of a page."""
    return f"```sh\n{setup_text(client_setup(client, ADDRESS, TOKEN), TOKEN)}```\n"
