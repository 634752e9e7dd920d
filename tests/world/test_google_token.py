"""Tokens of Google: a service account's file and a loopback server in place of Google's."""

from __future__ import annotations

import asyncio
import builtins
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from turnout.errors import ProviderError
from turnout.targets.target import find_target
from turnout.world.google_token import fetch_token
from turnout.world.keys import Keys

pytest.importorskip("google.auth", reason="google-auth is not installed")


@contextmanager
def token_server(status: int, answer: dict[str, Any]) -> Iterator[tuple[str, list[bytes]]]:
    """A server that gives out tokens, and the requests that it got."""
    asked: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/token", asked
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()


def account_file(folder: Path, token_uri: str) -> dict[str, str]:
    """The environment that names a service account whose tokens come from this address."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    path = folder / "account.json"
    fields = {"type": "service_account", "client_email": "a@p.iam", "project_id": "p", "private_key_id": "1"}
    path.write_text(json.dumps({**fields, "private_key": text, "token_uri": token_uri}))
    return {"GOOGLE_APPLICATION_CREDENTIALS": str(path), "GOOGLE_CLOUD_PROJECT": "p"}


def test_a_service_account_gets_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target of Vertex without a key asks Google, and sends the token as a bearer."""
    with token_server(200, {"access_token": "ya29.t", "expires_in": 3600, "token_type": "Bearer"}) as (
        at,
        asked,
    ):
        environment = account_file(tmp_path, at)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", environment["GOOGLE_APPLICATION_CREDENTIALS"])
        place = find_target("vertex:gemini-2.5-pro", environment=environment)
        keys = Keys(environment)
        headers = asyncio.run(keys.headers(place))
        again = asyncio.run(keys.headers(place))

    assert headers == again == {"authorization": "Bearer ya29.t"}
    assert len(asked) == 1 and b"assertion=" in asked[0]
    assert keys.forget(place) and keys.secrets() == ("ya29.t",)


def test_a_token_of_the_environment_is_used_first(tmp_path: Path) -> None:
    """VERTEX_ACCESS_TOKEN asks nobody."""
    environment = {**account_file(tmp_path, "http://127.0.0.1:9/none"), "VERTEX_ACCESS_TOKEN": "mine"}
    place = find_target("vertex:claude-sonnet-4-5", environment=environment)
    assert asyncio.run(Keys(environment).headers(place)) == {"authorization": "Bearer mine"}


def test_what_google_refuses_is_an_error_of_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to do, and its kind is `auth`."""
    with token_server(400, {"error": "invalid_grant", "error_description": "account not found"}) as (at, _):
        path = account_file(tmp_path, at)["GOOGLE_APPLICATION_CREDENTIALS"]
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
        with pytest.raises(ProviderError, match=r"invalid_grant.*gcloud auth application-default") as caught:
            fetch_token()
    assert caught.value.kind == "auth"


def test_without_google_auth_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is named with the command that installs it."""
    usual = builtins.__import__

    def without_google(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("google"):
            raise ImportError(name)
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_google)
    with pytest.raises(ProviderError, match=r"VERTEX_ACCESS_TOKEN.*turnout\[vertex\]"):
        fetch_token()
