"""`turnout launch`: a client behind the gateway, in one line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ...errors import UsageError
from ...world.config import load_config

PATIENCE = 30.0
"""Seconds in which a gateway must have started."""


@click.command("launch", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("client")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("-m", "--model", default="", help="The model that the client asks for.")
@click.option("--port", type=click.IntRange(1, 65_535), default=8484, show_default=True, help="Of a gateway.")
@click.pass_context
def launch_command(
    ctx: click.Context, client: str, arguments: tuple[str, ...], model: str, port: int
) -> None:
    """Start a client that talks to any provider through the gateway.

    A gateway that runs already is used; else one is started, and ends with the client.

    \b
        turnout launch claude-code -- -p "What is in this folder?"
        turnout launch -m kimi:kimi-k2.5 codex
    """
    from ..gateway.access import own_token
    from ..gateway.clients import client_setup
    from ..gateway.start import GatewayPlaces

    config = load_config(os.environ, Path.cwd())
    token, _ = own_token(os.environ, GatewayPlaces.of(config).token)
    setup = client_setup(client, "", token, model)
    if not setup.program:
        raise UsageError(f"{client} is not one program; `turnout serve --for {client}` prints what to set")
    if (program := shutil.which(setup.program)) is None:
        raise UsageError(f"{setup.program!r} is not on the PATH; install {client} first")
    with _running_gateway(port, token) as base:
        setup = client_setup(client, base, token, model)
        if setup.file and not setup.arguments and "OPENCODE_CONFIG_CONTENT" not in setup.variables:
            click.echo(f"turnout: {client} is set up in {setup.file}: turnout serve --for {client}", err=True)
        own = arguments[1:] if arguments[:1] == ("--",) else arguments
        with _extension_file(setup.extension) as extension:
            words = [program, *extension, *setup.arguments, *own]
            done = subprocess.run(words, env={**os.environ, **setup.variables})
    ctx.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


@contextmanager
def _extension_file(code: str) -> Iterator[list[str]]:
    """The words that make a client load the code, as long as it runs."""
    if not code:
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="turnout-") as folder:
        path = Path(folder) / "turnout.js"
        path.write_text(code)
        yield ["-e", str(path)]


@contextmanager
def _running_gateway(port: int, token: str) -> Iterator[str]:
    """The address of a gateway with our token: one that runs, or one that is started for this client."""
    base = f"http://127.0.0.1:{port}"
    if _answers_us(base, token):
        yield base
        return
    words = [sys.executable, "-m", "turnout", "serve", "--port", "0", "--quiet", "--insecure"]  # on loopback
    with subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line.startswith("turnout: serving at "):
                raise UsageError("the gateway did not start; `turnout serve` shows why")
            yield line.removeprefix("turnout: serving at ").strip()
        finally:
            process.terminate()


def _answers_us(base: str, token: str) -> bool:
    """Whether a gateway runs there and takes our token. Another program's server gets no token."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{base}/", timeout=1) as answer:
            if not answer.read(200).startswith(b"turnout gateway"):
                return False
        request = urllib.request.Request(f"{base}/v1/models", headers={"authorization": f"Bearer {token}"})
        with opener.open(request, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
