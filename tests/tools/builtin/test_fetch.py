"""web_fetch: the public web as text, and no way to anything else."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from encodings.aliases import aliases
from pathlib import Path
from typing import Any

import pytest

from turnout.model import Outcome
from turnout.tools.builtin.fetch import BYTES, CODECS, Web, dial_address, fetch_tool
from turnout.tools.confine.addresses import WebTarget
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.result import outcome_of

PRIVATE = (Path(__file__).parents[1] / "safety" / "addresses.txt").read_text().splitlines()
PUBLIC = "93.184.216.34"


class Answer:
    """What a server says."""

    def __init__(self, status: int = 200, body: Any = b"", mime: str = "text/plain", **headers: str) -> None:
        self.status = status
        self.headers: Mapping[str, str] = {
            "content-type": mime,
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        self._body = body

    @property
    async def chunks(self) -> AsyncIterator[bytes]:
        for chunk in [self._body] if isinstance(self._body, bytes) else self._body:
            await asyncio.sleep(0)
            yield chunk


class World(Web):
    """A web of a few names and pages that writes down whom it was asked to dial."""

    def __init__(self, names: dict[str, Any] | None = None, pages: dict[str, Answer] | None = None) -> None:
        super().__init__(self._resolve, self._dial)
        self.names = names or {}
        self.pages = pages or {}
        self.dials: list[tuple[str, str]] = []

    async def _resolve(self, host: str, port: int) -> list[str]:
        found = self.names.get(host, [PUBLIC])
        return list(found.pop(0) if found and isinstance(found[0], list) else found)

    @asynccontextmanager
    async def _dial(self, place: WebTarget, address: str) -> AsyncIterator[Answer]:
        self.dials.append((address, place.url))
        yield self.pages.get(place.url) or Answer(404, b"not here")


def fetch(world: Web, url: str, seconds: float = 5.0) -> Outcome:
    return outcome_of(asyncio.run(fetch_tool(world, seconds).invoke(ToolContext("c"), {"url": url}))).outcome


# What is never reached


def test_no_spelling_of_a_private_address_is_dialled() -> None:
    """Numbers in every base, IPv6 in every dress, names of the local network, other schemes, odd ports."""
    assert len(PRIVATE) >= 120
    world = World()
    for url in PRIVATE:
        outcome = fetch(world, url)
        assert outcome.status == "error" and "was not fetched" in outcome.text, url
    assert world.dials == []


LITERALS = [
    "127.0.0.1",
    "::1",
    "10.0.0.1",
    "169.254.169.254",
    "fd00::1",
    "::ffff:127.0.0.1",
    "100.64.0.1",
    "0.0.0.0",
]


@pytest.mark.parametrize("address", LITERALS)
def test_a_public_name_with_a_private_address_is_not_dialled(address: str) -> None:
    """What counts is where the name leads; one bad address among good ones is enough."""
    for answer in ([address], [PUBLIC, address], [address, PUBLIC]):
        world = World({"rebind.example.com": answer})
        assert "leads to the local network" in fetch(world, "https://rebind.example.com/").text
        assert world.dials == []


@pytest.mark.parametrize("url", PRIVATE)
def test_no_redirect_leads_to_a_private_address(url: str) -> None:
    """Each hop is judged as the first was."""
    world = World(pages={"https://example.com/": Answer(302, location=url)})
    fetch(world, "https://example.com/")
    assert {address for address, _ in world.dials} == {PUBLIC}
    assert all(place.startswith("https://example.com/") for _, place in world.dials)


def test_a_name_that_changes_its_mind_changes_nothing() -> None:
    """It is looked up once for each hop, and the address that was checked is the one dialled."""
    pages = {
        "https://example.com/": Answer(302, location="/next"),
        "https://example.com/next": Answer(body=b"!"),
    }
    world = World({"example.com": [[PUBLIC], ["127.0.0.1"]]}, pages)
    assert "leads to the local network" in fetch(world, "https://example.com/").text
    assert world.dials == [(PUBLIC, "https://example.com/")]


# Redirects


def test_redirects_within_a_site_are_followed() -> None:
    """To another path, to https, to www and back; relative or whole."""
    pages = {
        "http://example.com/": Answer(301, location="https://example.com/"),
        "https://example.com/": Answer(302, location="//www.example.com/a"),
        "https://www.example.com/a": Answer(307, location="b?c=d"),
        "https://www.example.com/b?c=d": Answer(body=b"here"),
    }
    world = World(pages=pages)
    assert (
        fetch(world, "http://example.com").text
        == "[https://www.example.com/b?c=d: status 200, text/plain]\nhere"
    )
    assert len(world.dials) == 4


@pytest.mark.parametrize(
    "onward", ["https://evil.example/x", "http://example.com/plain", "https://example.com.evil.io/"]
)
def test_where_another_site_begins_the_model_is_told(onward: str) -> None:
    """What was approved is what is fetched; https is not left for http either."""
    world = World(pages={"https://example.com/": Answer(302, location=onward)})
    outcome = fetch(world, "https://example.com/")
    assert f"redirects to another site: {onward}" in outcome.text
    assert len(world.dials) == 1


def test_a_circle_of_redirects_ends() -> None:
    """After a few hops, with a word about it."""
    world = World(pages={"https://example.com/": Answer(302, location="/")})
    assert "more than 5 times" in fetch(world, "https://example.com/").text
    assert len(world.dials) == 6


# Limits


def test_a_large_page_is_cut() -> None:
    """No more is read than the limit, however much there is."""
    read = 0

    def endless() -> Any:
        nonlocal read
        while True:
            read += 65536
            yield b"x" * 65536

    text = fetch(World(pages={"https://example.com/": Answer(body=endless())}), "https://example.com/").text
    assert f"only the first {BYTES:,} bytes" in text
    assert read <= BYTES + 2 * 65536


def test_a_bomb_is_inflated_no_further_than_the_limit() -> None:
    """A thousand to one, sent though nobody asked for it."""
    bomb = gzip.compress(b"\0" * 30_000_000, 9)
    started = time.process_time()
    world = World(pages={"https://example.com/": Answer(body=bomb, content_encoding="gzip")})
    assert "only the first" in fetch(world, "https://example.com/").text
    assert time.process_time() - started < 5


def test_a_page_that_was_compressed_is_read() -> None:
    """Servers do that unasked; what we cannot inflate is said."""
    packed = Answer(body=gzip.compress(b"hello"), content_encoding="gzip")
    assert fetch(World(pages={"https://example.com/": packed}), "https://example.com/").text.endswith("hello")
    broken = Answer(body=b"hello", content_encoding="gzip")
    assert (
        "cannot be inflated"
        in fetch(World(pages={"https://example.com/": broken}), "https://example.com/").text
    )
    other = Answer(body=b"hello", content_encoding="br")
    assert "encoding 'br'" in fetch(World(pages={"https://example.com/": other}), "https://example.com/").text


def test_a_server_that_does_not_answer_is_given_up() -> None:
    """Within the time limit, whichever step hangs."""

    class Slow(World):
        async def _resolve(self, host: str, port: int) -> list[str]:
            await asyncio.sleep(60)
            return []

    started = time.monotonic()
    assert "took longer than 0.2 s" in fetch(Slow(), "https://example.com/", 0.2).text
    assert time.monotonic() - started < 20


# What a model reads


def test_an_error_page_is_an_error_with_its_text() -> None:
    """The status is told, and what the server said."""
    outcome = fetch(World(), "https://example.com/")
    assert outcome.status == "error"
    assert outcome.text == "[https://example.com/: status 404, text/plain]\nnot here"


def test_what_is_no_text_is_not_shown() -> None:
    """Its kind and size are."""
    world = World(pages={"https://example.com/": Answer(body=b"\x89PNG", mime="image/png")})
    assert "is image/png (4 bytes), not text" in fetch(world, "https://example.com/").text


def test_invisible_characters_are_taken_out() -> None:
    """Text that a person would not see is not for the model either."""
    body = "a\u200bb\u202ec\U000e0041d".encode()
    world = World(pages={"https://example.com/": Answer(body=body)})
    assert fetch(world, "https://example.com/").text.endswith("\nabcd")
    spelled = b"<title>t&#xE0041;</title><p>a&#8203;b&#x202E;c&#xE0042;&ZeroWidthSpace;d&shy;</p>"
    world = World(pages={"https://example.com/": Answer(body=spelled, mime="text/html")})
    assert fetch(world, "https://example.com/").text.endswith("\n# t\nabcd")


# The real dialling, on loopback


async def _served(place: WebTarget, answer: bytes) -> tuple[bytes, Any]:
    """What a server at 127.0.0.1 was sent when a target was dialled there, and what came of it."""
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.read(65536))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with dial_address(WebTarget(place.scheme, place.host, port, place.path), "127.0.0.1") as reply:
            return got[0], (reply.status, b"".join([chunk async for chunk in reply.chunks]))
    except OSError as error:
        return got[0] if got else b"", error
    finally:
        server.close()


def test_the_address_is_dialled_and_the_name_is_only_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's name goes into the request; no proxy of the environment is asked."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    place = WebTarget("http", "no-such-host.example", 80, "/p?q=1")
    sent, (status, body) = asyncio.run(_served(place, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"))
    assert (status, body) == (200, b"hi")
    assert sent.startswith(b"GET /p?q=1 HTTP/1.1\r\n")
    assert b"host: no-such-host.example:" in sent.lower()
    assert b"cookie" not in sent.lower() and b"authorization" not in sent.lower()


def test_the_certificate_is_asked_for_by_name() -> None:
    """The greeting of TLS names the host, not the address."""
    hello, error = asyncio.run(_served(WebTarget("https", "no-such-host.example", 443, "/"), b"no"))
    assert b"no-such-host.example" in hello
    assert isinstance(error, OSError)


# Codecs and clocks

NOT_FOR_PAGES = (
    *("punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape", "utf_7", "hz", "uu"),
    *("base64", "hex", "zlib", "bz2", "rot13", "quopri", "mbcs", "oem", "palmos", "charmap", "no-such-thing"),
)


@pytest.mark.parametrize("name", [*NOT_FOR_PAGES, *sorted(set(aliases.values()))])
def test_no_codec_that_a_page_names_takes_long_or_raises(name: str) -> None:
    """Only encodings of web pages are used; every other name is read as UTF-8."""
    body = b"a-" * 500_000 + b"+AGE-\\x41\\u0041~{"
    before = time.process_time()
    page = Answer(200, body, f"text/plain; charset={name}")
    text = fetch(World(pages={"http://example.com/": page}), "http://example.com/").text
    assert time.process_time() - before < 2
    assert "a-a-" in text or "\ufffd" in text or name.startswith(("utf_16", "utf_32"))
    if name in NOT_FOR_PAGES:
        assert text.endswith("+AGE-\\x41\\u0041~{")


@pytest.mark.parametrize("name", CODECS)
def test_every_encoding_of_web_pages_is_known(name: str) -> None:
    """Its name leads to a codec for text."""
    assert "abc".encode(CODECS[name]).decode(CODECS[name]) == "abc"


HANGING = """
import asyncio, sys, time
sys.path.insert(0, "")
from tests.tools.builtin.test_fetch import Answer, World
from turnout.tools.builtin import fetch, html_text
from turnout.tools.declare.context import ToolContext

def hang(*_):
    time.sleep(60)

html_text.title_and_text = hang
async def main():
    world = World(pages={"http://example.com/": Answer(200, b"<html>", "text/html")})
    tool = fetch.fetch_tool(world, seconds=0.3)
    return await tool.invoke(ToolContext(), {"url": "http://example.com/"})
print(asyncio.run(main()).text)
"""


def test_decoding_has_a_clock_and_the_process_exits_whatever_threads_do() -> None:
    """A page that takes for ever to read is given up, and holds up neither the loop nor the exit."""
    began = time.monotonic()
    ran = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=40)
    assert "it took longer than 0.3 s" in ran.stdout, ran.stderr
    assert time.monotonic() - began < 30
