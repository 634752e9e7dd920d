"""Which addresses may be fetched: public ones, judged by the address that we connect to.

A URL is read once, strictly. We resolve its host, every address that it resolves to must be public,
and we connect to the very address that was checked. So it does not matter if the name resolves to
another address between the check and the connection.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

LONGEST = 4_000
PORTS = {"http": 80, "https": 443}
LOWEST_PORT = 1024  # except 80 and 443: below it are mail, shells, printers
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")

_REFUSED_4 = [
    IPv4Network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
        *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        *("224.0.0.0/4", "240.0.0.0/4", "100.100.100.200/32", "168.63.129.16/32"),  # the last: clouds' own
    )
]
_PUBLIC_6 = IPv6Network("2000::/3")
_REFUSED_6 = [
    IPv6Network(text)
    for text in (
        *("2001::/23", "2001:db8::/32", "2002::/16", "3ffe::/16", "3fff::/20", "2620:4f:8000::/48"),
        *("64:ff9b::/96", "64:ff9b:1::/48", "5f00::/16"),
    )
]


class Forbidden(ValueError):
    """This may not be fetched; the message says why."""


class WebTarget(Struct, frozen=True):
    """Where a URL leads: `host` in its one spelling, `path` with its query, no fragment."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """The host as a request names it: with a port that is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def site(self) -> str:
        """The host without `www.`: what a redirect may stay within."""
        return self.host.removeprefix("www.")


def target(url: str, base: str = "") -> WebTarget:
    """Read a URL, relative to `base` if it is a redirect; raises `Forbidden`."""
    if len(url) > LONGEST:
        raise Forbidden(f"the address is longer than {LONGEST:,} characters")
    if any(ord(letter) <= 0x20 or ord(letter) == 0x7F for letter in url) or "\\" in url:
        raise Forbidden("the address holds spaces, control characters or backslashes")
    try:
        parts = urlsplit(urljoin(base, url) if base else url)
        port = parts.port
        host = parts.hostname or ""
    except ValueError as error:
        raise Forbidden(f"the address cannot be read: {error}") from None
    if parts.scheme not in PORTS:
        raise Forbidden(
            f"only http and https can be fetched, not {parts.scheme[:20] or 'an address without either'!r}"
        )
    if "@" in parts.netloc:
        raise Forbidden("the address holds a user name, which hides where it leads")
    port = PORTS[parts.scheme] if port is None else port
    if port not in PORTS.values() and port < LOWEST_PORT:
        raise Forbidden(f"port {port} is not a port of the web; use 80, 443 or one from {LOWEST_PORT}")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = f"?{quote(parts.query, safe='/?%:@!$&()*+,;=~-._[]')}" if parts.query else ""
    return WebTarget(parts.scheme, _host(host), port, path + query)


def _host(host: str) -> str:
    """A host in its one spelling. Numbers must be written as an address is usually written."""
    if "%" in host:
        raise Forbidden("the address names a network interface")
    if ":" in host:
        return str(_literal(host))
    try:
        name = (
            host.rstrip(".").encode("idna").decode().lower()
            if not host.isascii()
            else host.rstrip(".").lower()
        )
    except UnicodeError:
        raise Forbidden(f"{host[:80]!r} is not a host name") from None
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Forbidden(f"{host[:80]!r} is not a host name")
    if re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]):
        return str(_literal(name))
    if labels[-1] in (
        "localhost",
        "local",
        "internal",
        "localdomain",
        "lan",
        "home",
        "corp",
        "onion",
        "invalid",
    ):
        raise Forbidden(f"{name[:80]} is a name of the local network")
    if len(labels) < 2:
        raise Forbidden(f"{name[:80]} has no domain, so it is a name of the local network")
    return name


def _literal(text: str) -> IPv4Address | IPv6Address:
    try:
        found = ip_address(text)
    except ValueError:
        raise Forbidden(f"{text[:80]!r} is an unusual spelling of an address") from None
    if why := refusal(text):
        raise Forbidden(why)
    return found


def refusal(address: str) -> str:
    """Why we may not connect to an address; "" when it is a public one."""
    try:
        found = ip_address(address)
    except ValueError:
        return f"{address[:80]!r} is not an address"
    if isinstance(found, IPv6Address):
        if found.scope_id or found not in _PUBLIC_6 or any(found in network for network in _REFUSED_6):
            return f"{address} is not a public address"
    elif any(found in network for network in _REFUSED_4):
        return f"{address} is not a public address"
    return "" if found.is_global and not found.is_multicast else f"{address} is not a public address"


def choose_address(host: str, addresses: Sequence[str]) -> str:
    """The address to connect to. If one of them is not public, the host is refused: it may come next."""
    if not addresses:
        raise Forbidden(f"{host} has no address")
    for address in addresses:
        if why := refusal(address):
            raise Forbidden(f"{host} leads to the local network: {why}")
    return addresses[0]
