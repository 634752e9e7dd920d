"""`turnout serve`: any client of four APIs talks to any provider through this machine."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ...world.config import load_config


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8484,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option("--for", "client", default="", metavar="CLIENT", help="Print how to set up a client, and end.")
@click.option("-m", "--model", default="", help="With --for: the model that the client asks for.")
@click.option("--keep-bodies", is_flag=True, help="Keep the bodies of requests, without keys, for /requests.")
@click.option("--tls-cert", default="", help="Certificate file: serve https.")
@click.option("--tls-key", default="", help="Key file of the certificate.")
@click.option("--insecure", is_flag=True, help="Serve without TLS, on other addresses than loopback too.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print a line for each request.")
def serve_command(
    host: str,
    port: int,
    client: str,
    model: str,
    keep_bodies: bool,
    tls_cert: str,
    tls_key: str,
    insecure: bool,
    quiet: bool,
) -> None:
    """Serve the OpenAI, Anthropic and Gemini APIs with any provider behind them.

    Any client is pointed here with one variable, changes model at any turn, and never meets a 400 about
    its tool calls. Models are mapped in config.toml; see docs/guide/gateway.md.

    \b
        turnout serve
        turnout serve --for claude-code      print what to set for a client
        turnout launch claude-code           start both
    """
    from ..gateway.start import (
        GatewayPlaces,
        ServeOptions,
        address_of,
        open_gateway,
        open_sockets,
        run_gateway,
        run_loop,
        tls_context,
    )
    from ..pages.site import open_pages

    config = load_config(os.environ, Path.cwd())
    settings = config.settings.gateway
    certificate = "" if insecure else tls_cert or settings.tls_certificate
    if client:
        scheme = "https" if certificate else "http"
        _print_setup(client, scheme, host, port, model, GatewayPlaces.of(config).token)
        return
    tls = tls_context(certificate, tls_key or settings.tls_key)
    options = ServeOptions(host=host, port=port, insecure=insecure, keep_bodies=keep_bodies)
    gateway = open_gateway(config, options, None if quiet else _print_line)
    pages, _ = open_pages(config, GatewayPlaces.of(config))
    pages.add_to(gateway)
    sockets = open_sockets(options, tls is not None)
    place, link = address_of(sockets[0], tls is not None), pages.sign_in.make_link()

    def say_ready() -> None:
        click.echo(f"turnout: serving at {place}")
        click.echo(f"turnout: the token is in {_token_place(GatewayPlaces.of(config).token)}; show how with")
        click.echo("turnout:   turnout serve --for claude-code   (or codex, gemini-cli, opencode, llm …)")
        click.echo(f"turnout: in a browser, by a link that works once: {place}/?once={link}")

    run_loop(run_gateway(gateway, sockets, tls, ready=say_ready))


def _print_setup(client: str, scheme: str, host: str, port: int, model: str, path: Path) -> None:
    from ..gateway.access import TOKEN, own_token
    from ..gateway.clients import client_setup, setup_text

    own_token(os.environ, path)
    shown = f"${TOKEN}" if os.environ.get(TOKEN) else f"$(cat '{path}')"
    name = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    base = f"{scheme}://{name}:{port or 8484}"
    click.echo(setup_text(client_setup(client, base, shown, model), shown), nl=False)


def _token_place(path: Path) -> str:
    from ..gateway.access import TOKEN

    return f"${TOKEN}" if os.environ.get(TOKEN) else str(path)


def _print_line(line: str) -> None:
    click.echo(line, err=True)
