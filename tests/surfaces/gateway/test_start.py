"""The gateway on a machine: addresses that need TLS, and the files it makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.gateway.served import environment_at

from turnout.errors import UsageError
from turnout.surfaces.gateway.start import (
    GatewayPlaces,
    ServeOptions,
    open_gateway,
    open_sockets,
    tls_context,
)
from turnout.world.config import load_config


def test_other_addresses_need_tls_or_a_word() -> None:
    """A token must not go over a network unencrypted by mistake."""
    with pytest.raises(UsageError, match="--insecure"):
        open_sockets(ServeOptions(host="0.0.0.0", port=0), False)
    for each in open_sockets(ServeOptions(host="0.0.0.0", port=0, insecure=True), False):
        each.close()


def test_a_port_that_is_taken_is_named() -> None:
    """With the way on."""
    first = open_sockets(ServeOptions(port=0), False)
    port = first[0].getsockname()[1]
    with pytest.raises(UsageError, match=f"{port}.*--port"):
        open_sockets(ServeOptions(port=port), False)
    for each in first:
        each.close()


def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Before anything listens."""
    with pytest.raises(UsageError, match=r"cert\.pem"):
        tls_context(str(tmp_path / "cert.pem"), "")
    assert tls_context("", "") is None


def test_all_files_are_private(tmp_path: Path) -> None:
    """Token, sealing key and memory have mode 0600, in a folder 0700."""
    config = load_config(environment_at(tmp_path), tmp_path)
    gateway = open_gateway(config)
    places = GatewayPlaces.of(config)
    for path in (places.token, places.sealing_key, places.memory):
        assert path.stat().st_mode & 0o777 == 0o600
    assert places.token.parent.stat().st_mode & 0o777 == 0o700
    gateway.memory.close()
