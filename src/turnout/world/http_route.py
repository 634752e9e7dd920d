"""The way to a server: directly or by a proxy, with the certificates that this machine trusts.

Both come from the environment, in the names that other programs use (HTTP_PROXY, HTTPS_PROXY,
ALL_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR). This machine itself is always reached directly.
"""

from __future__ import annotations

import os
import re
import ssl
import sys
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from ..errors import UsageError
from ..tools.confine.forbidden_requests import LOOPBACK

PORTS = {"http": 80, "https": 443}
CONTROL = re.compile(r"[\0-\x1f\x7f]")
PLATFORM: str = sys.platform  # as a text, so that the types of every system are checked


class Server(Struct, frozen=True):
    """Where a connection goes to: what idle connections are sorted by."""

    scheme: str
    host: str
    port: int

    @property
    def is_tls(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """As the Host header names it: without the usual port."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == PORTS[self.scheme] else f"{name}:{self.port}"


class Address(Struct, frozen=True):
    """An address taken apart: the server, what is asked of it, and a user that stood in the address."""

    server: Server
    path: str
    credentials: str = ""


class Proxy(Struct, frozen=True):
    """A proxy, and who we are to it."""

    server: Server
    credentials: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"proxy-authorization": self.credentials} if self.credentials else {}


def parse_address(url: str) -> Address:
    """Take an http or https address apart; raises `UsageError` for anything else."""
    if CONTROL.search(url):  # urlsplit would leave these out without saying so
        raise UsageError(
            f"{url!r} is not an address: it holds control characters; give http:// or https:// and a host"
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise UsageError(
            f"{url!r} is not an address ({error}); give http:// or https:// and a host"
        ) from None
    if not host or parts.scheme not in PORTS or " " in host:
        raise UsageError(f"{url!r} is not an address; give http:// or https:// and a host")
    server = Server(parts.scheme, _ascii_host(host, url), port or PORTS[parts.scheme])
    path = quote(parts.path or "/", safe=PATH_CHARACTERS)
    if parts.query:
        path += "?" + quote(parts.query, safe=PATH_CHARACTERS + "?")
    return Address(server, path, _credentials(parts.username, parts.password))


PATH_CHARACTERS = "/%:@!$&'()*+,;=~-._"


def _ascii_host(host: str, url: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise UsageError(
            f"{url!r} is not an address (its host cannot be looked up); give http:// or https:// and a host"
        ) from None


def _credentials(user: str | None, password: str | None) -> str:
    if user is None:
        return ""
    text = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {b64encode(text.encode()).decode()}"


class Surroundings:
    """The proxies and certificates of one moment: read once, used by all connections of a loop."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        self._proxies = {scheme: _proxy_of(scheme, environment) for scheme in PORTS}
        self._direct = _hosts_without_proxy(environment)
        self._environment = environment
        self._context: ssl.SSLContext | None = None
        _check_certificates(environment)

    def proxy_for(self, server: Server) -> Proxy | None:
        if server.host in LOOPBACK or self._is_direct(server.host):
            return None
        return self._proxies[server.scheme]

    def _is_direct(self, host: str) -> bool:
        return any(
            name == "*" or host == name or host.endswith(f".{name.lstrip('.')}") for name in self._direct
        )

    @property
    def context(self) -> ssl.SSLContext:
        """The rules of TLS. Reading the certificates takes 30 ms, so one context serves all connections."""
        if self._context is None:
            self._context = _tls_context()
        return self._context


def _proxy_of(scheme: str, environment: Mapping[str, str]) -> Proxy | None:
    for variable in (f"{scheme}_proxy", "all_proxy"):
        # A web server hands the header "Proxy:" of any client to its programs as HTTP_PROXY (httpoxy).
        upper = "" if variable == "http_proxy" and "REQUEST_METHOD" in environment else variable.upper()
        value = environment.get(variable) or environment.get(upper) or ""
        if value:
            return _parse_proxy(value, variable.upper())
    system = _proxies_of_the_system().get(scheme, "")
    return _parse_proxy(system, "the system's proxy settings") if system else None


def _parse_proxy(value: str, name: str) -> Proxy:
    """The value may hold a password, so an error does not show it."""
    try:
        address = parse_address(value if "://" in value else f"http://{value}")
    except UsageError:
        scheme = value.partition("://")[0] if "://" in value else "its form"
        raise UsageError(
            f"{name} names a proxy that cannot be used ({scheme[:20]}); give one that begins with http:// or https://"
        ) from None
    return Proxy(address.server, address.credentials)


def _proxies_of_the_system() -> dict[str, str]:
    """Where the system itself knows of proxies: macOS and Windows."""
    if PLATFORM not in ("darwin", "win32"):
        return {}
    from urllib.request import getproxies

    return getproxies()


def _hosts_without_proxy(environment: Mapping[str, str]) -> list[str]:
    value = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    return [name.strip().lower() for name in value.split(",") if name.strip()]


def _check_certificates(environment: Mapping[str, str]) -> None:
    """OpenSSL says nothing about a file that is not there; every server would then be refused."""
    for name, exists in (("SSL_CERT_FILE", os.path.isfile), ("SSL_CERT_DIR", os.path.isdir)):
        value = environment.get(name, "")
        if value and not any(exists(path) for path in value.split(os.pathsep)):
            raise UsageError(
                f"{name} names {value!r}, which is not there; set it to certificates, or unset it"
            )


def _tls_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if not _has_certificates():
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _has_certificates() -> bool:
    """Small containers and some builds of Python for macOS have none."""
    if PLATFORM == "win32":
        return True  # they are in the store of Windows
    found: Any = ssl.get_default_verify_paths()  # None for what is not there, which typeshed does not know
    return bool(found.cafile) or bool(found.capath and os.listdir(found.capath))
