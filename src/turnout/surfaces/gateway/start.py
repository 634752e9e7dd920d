"""Open the gateway on a machine: its token, its keys, its memory, its sockets; and run it to its end."""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ...errors import UsageError
from ...store.place import default_path
from ...store.store import is_postgres
from ...world.config import Config
from .access import own_token
from .gateway import Gateway
from .guard import LOOPBACK
from .http_connection import HttpServer
from .memory import GatewayMemory
from .sealing import VARIABLE, Sealer, sealing_key
from .shared_state import SharedTables

FLUSH_EVERY = 1.0
PORT = 8484


class GatewayPlaces(Struct, frozen=True):
    """Where the gateway keeps what it needs, beside the store of sessions. All of it is private."""

    token: Path
    sealing_key: Path
    memory: Path

    @classmethod
    def of(cls, config: Config) -> GatewayPlaces:
        folder = config.places.data
        return cls(
            folder / "gateway-token",
            folder / "gateway-sealing-key",
            _folder_of_store(config) / "gateway.db",
        )


def _folder_of_store(config: Config) -> Path:
    """Beside the store where that is a file; a store on a server has no folder."""
    path = default_path(config.environment)
    return config.places.data if "://" in config.environment.get("TURNOUT_STORE", "") else path.parent


class ServeOptions(Struct, frozen=True, kw_only=True):
    """How `turnout serve` listens."""

    host: str = "127.0.0.1"
    port: int = PORT
    insecure: bool = False
    keep_bodies: bool = False


def open_gateway(
    config: Config, options: ServeOptions | None = None, log: Callable[[str], None] | None = None
) -> Gateway:
    """The gateway with the keys and files of this machine."""
    options = options or ServeOptions()
    settings, places = config.settings.gateway, GatewayPlaces.of(config)
    config.set_facts()
    token, _ = own_token(config.environment, places.token)
    key = sealing_key(config.environment.get(VARIABLE, ""), settings.sealing_key_file, places.sealing_key)
    memory = GatewayMemory(places.memory, settings.store_mib * 1024 * 1024)
    return Gateway(
        config,
        token=token,
        sealer=Sealer(key),
        memory=memory,
        shared=_shared_tables(config),
        hosts=() if options.host in ("0.0.0.0", "::") else (options.host,),
        keep_bodies=options.keep_bodies,
        log=log,
    )


def _shared_tables(config: Config) -> SharedTables | None:
    """The tables of all gateways, where the store is in PostgreSQL. They are opened on first use."""
    url = config.environment.get("TURNOUT_STORE", "")
    if not is_postgres(url):
        return None
    from ...store.postgres.backend import open_gateway_state  # needs turnout[postgres]

    return open_gateway_state(url, config.settings.gateway.store_mib * 1024 * 1024)


def open_sockets(options: ServeOptions, is_tls: bool) -> list[socket.socket]:
    """The sockets to listen on. Another address than loopback needs TLS, or --insecure."""
    if options.host not in LOOPBACK and not is_tls and not options.insecure:
        raise UsageError(
            f"{options.host} can be reached from other machines, and tokens would go there unencrypted: "
            "give --tls-cert and --tls-key, or --insecure if something else encrypts"
        )
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        first = socket.create_server((options.host, options.port), family=family, backlog=1024)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {options.host}:{options.port}: {error.strerror}; choose another --port, or 0"
        ) from None
    opened = [first]
    if options.host == "127.0.0.1" and socket.has_ipv6:  # `localhost` is ::1 first for some clients
        with suppress(OSError):
            same = ("::1", first.getsockname()[1])
            opened.append(socket.create_server(same, family=socket.AF_INET6, backlog=1024))
    return opened


def tls_context(certificate: str, key: str) -> ssl.SSLContext | None:
    if not certificate:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key or None)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"{certificate} cannot be used for TLS: {error}; check both files") from None
    return context


def address_of(listening: socket.socket, is_tls: bool) -> str:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if is_tls else 'http'}://{shown}:{port}"


async def run_gateway(
    gateway: Gateway,
    sockets: list[socket.socket],
    tls: ssl.SSLContext | None = None,
    *,
    until: asyncio.Event | None = None,
    ready: Callable[[], None] | None = None,
) -> None:
    """Serve until a signal, or until the event is set; then let open replies finish."""
    loop, ended = asyncio.get_running_loop(), until or ended_by_signal()
    server = HttpServer(gateway)
    await server.start(sockets, tls)
    writing = loop.create_task(_flush_requests(gateway))
    await gateway.share_usage()  # budgets are those of all gateways from the first request on
    if ready is not None:
        ready()
    try:
        await ended.wait()
    finally:
        await server.close()
        writing.cancel()
        await gateway.end()


def ended_by_signal() -> asyncio.Event:
    """An event that is set when the process is told to end."""
    ended = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, ended.set)
    return ended


async def _flush_requests(gateway: Gateway) -> None:
    while True:
        await asyncio.sleep(FLUSH_EVERY)
        gateway.memory.flush()
        await gateway.share_usage()


def run_loop(work: asyncio.Future[None] | object) -> None:
    """Run on uvloop where it is installed."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)  # type: ignore[arg-type]
