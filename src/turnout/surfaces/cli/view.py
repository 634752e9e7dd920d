"""`turnout view`: conversations, requests and numbers in a browser."""

from __future__ import annotations

import asyncio
import os
import socket
import webbrowser
from pathlib import Path

import click

from ...errors import UsageError
from ...world.config import Config, load_config


@click.command("view")
@click.option("--store", "url", default="", metavar="URL", help="The store: a path, or postgresql://…")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, help="Port to listen on; a free one by default."
)
@click.option("--no-browser", is_flag=True, help="Print the address, and do not open it.")
def view_command(url: str, port: int, no_browser: bool) -> None:
    """Show sessions, requests, costs and waiting calls in a browser, on this machine only.

    The address works once, and signs this browser in until the command ends. Ctrl+C ends it.

    \b
        turnout view
        turnout view --store other.db --port 8500
    """
    from ..gateway.start import ServeOptions, address_of, open_sockets, run_loop

    environment = {**os.environ, "TURNOUT_STORE": url} if url else dict(os.environ)
    config = load_config(environment, Path.cwd())
    if url and "://" not in url and not Path(url).exists():
        raise UsageError(f"there is no store at {url}; check --store, or leave it out for your own")
    config.set_facts()
    sockets = open_sockets(ServeOptions(port=port), False)
    place = address_of(sockets[0], False)
    run_loop(_serve_pages(config, sockets, place, not no_browser))


async def _serve_pages(config: Config, sockets: list[socket.socket], place: str, opens: bool) -> None:
    from ..gateway.http_connection import HttpServer
    from ..gateway.start import GatewayPlaces, ended_by_signal
    from ..pages.site import open_pages
    from ..pages.view_server import ViewApplication

    ended = ended_by_signal()
    pages, token = open_pages(config, GatewayPlaces.of(config))
    server = HttpServer(ViewApplication(pages, config, token), grace=1.0)
    try:
        await pages.check_store()
        await server.start(sockets)
        link = f"{place}/?once={pages.sign_in.make_link()}"
        click.echo(f"turnout: viewing at {link}")
        if opens and _has_screen():
            await asyncio.to_thread(webbrowser.open, link)
        await ended.wait()
    finally:
        await server.close()
        pages.close()


def _has_screen() -> bool:
    """Whether a browser can open here: a text browser in this terminal would hide the address."""
    return (
        os.name == "nt"
        or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
        or (os.uname().sysname == "Darwin")
    )
