"""The way to a server: addresses taken apart, proxies and certificates of the environment."""

from __future__ import annotations

import pytest

from turnout.errors import UsageError
from turnout.world.http_route import Server, Surroundings, parse_address

MODEL = Server("https", "api.example.test", 443)


def test_an_address_is_taken_apart() -> None:
    """The server, and what is asked of it, with nothing in it that could end a line."""
    found = parse_address("https://user:p%40ss@Api.Example.test/v1/models/a b:go?key=ü&x=1")
    assert found.server == MODEL and found.path == "/v1/models/a%20b:go?key=%C3%BC&x=1"
    assert found.credentials == "Basic dXNlcjpwQHNz"
    assert parse_address("http://[::1]:8080").server.authority == "[::1]:8080"
    assert parse_address("https://bücher.example/").server.host == "xn--bcher-kva.example"


@pytest.mark.parametrize(
    "url",
    ["", "x", "ftp://a/", "http://", "http://a b/", "http://a:99999/", "http://[::1/", "http://a\r\nb/"],
)
def test_what_is_not_an_address_says_so(url: str) -> None:
    """With the form that an address has."""
    with pytest.raises(UsageError, match="give http:// or https://"):
        parse_address(url)


@pytest.mark.parametrize(
    ("environment", "proxied"),
    [
        ({}, ""),
        ({"HTTPS_PROXY": "http://p:1"}, "p"),
        ({"https_proxy": "http://small:1", "HTTPS_PROXY": "http://p:1"}, "small"),
        ({"ALL_PROXY": "p:1"}, "p"),
        ({"HTTP_PROXY": "http://p:1"}, ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example.test"}, ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.test, .example.test"}, ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "ample.test"}, "p"),
    ],
)
def test_proxies_of_the_environment(environment: dict[str, str], proxied: str) -> None:
    """In the names that other programs use; NO_PROXY names hosts and all that is below them."""
    found = Surroundings(environment).proxy_for(MODEL)
    assert (found.server.host if found else "") == proxied


def test_a_header_of_a_visitor_is_not_taken_for_a_proxy() -> None:
    """Below a web server HTTP_PROXY is what any client wrote into a header."""
    below = Surroundings({"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"})
    assert below.proxy_for(Server("http", "api.example.test", 80)) is None


def test_this_machine_is_reached_directly() -> None:
    """Whatever proxy there is."""
    everywhere = Surroundings({"ALL_PROXY": "http://p:1"})
    assert everywhere.proxy_for(Server("http", "127.0.0.1", 80)) is None


def test_a_proxy_is_told_who_we_are() -> None:
    """By the user and the password in its address; an error shows neither."""
    found = Surroundings({"HTTPS_PROXY": "http://me:secret@p:1"}).proxy_for(MODEL)
    assert found is not None and found.headers == {"proxy-authorization": "Basic bWU6c2VjcmV0"}
    with pytest.raises(UsageError, match="HTTPS_PROXY") as caught:
        Surroundings({"HTTPS_PROXY": "socks5://me:secret@p:1"})
    assert "secret" not in str(caught.value)
