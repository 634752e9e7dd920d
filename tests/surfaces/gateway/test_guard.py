"""Who may ask: hosts, origins, kinds of content and tokens, as pure checks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.surfaces.gateway import guard
from turnout.surfaces.gateway.values import Request

OWN = {"host": "127.0.0.1:8484"}


def request(method: str = "GET", **headers: str) -> Request:
    return Request(
        method, "/v1/models", headers={**OWN, **{k.replace("_", "-"): v for k, v in headers.items()}}
    )


@pytest.mark.parametrize("host", ["127.0.0.1:8484", "localhost:1", "[::1]:8484", "LOCALHOST", "llm.example"])
def test_own_hosts_are_served(host: str) -> None:
    """Loopback under any port, because a tunnel changes it, and the names of the configuration."""
    assert guard.check_host(request(host=host), {"llm.example"}) is None


@pytest.mark.parametrize("host", ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil:8", "[::2]"])
def test_other_hosts_are_misdirected(host: str) -> None:
    """A name that leads here by DNS rebinding is still another name."""
    found = guard.check_host(request(host=host), {"llm.example"})
    assert found is not None and found.status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8484"},
        {"sec_fetch_site": "cross-site"},
    ],
)
def test_pages_of_other_sites_are_refused(headers: dict[str, str]) -> None:
    """Another port or scheme is another site."""
    found = guard.check_origin(request(**headers))
    assert found is not None and found.status == 403


@pytest.mark.parametrize("headers", [{}, {"origin": "http://127.0.0.1:8484"}, {"sec_fetch_site": "none"}])
def test_programs_and_own_pages_may_ask(headers: dict[str, str]) -> None:
    """A program sends no Origin; a page of the gateway sends the gateway's."""
    assert guard.check_origin(request(**headers)) is None


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/mixed"])
def test_a_post_must_say_that_it_is_json(kind: str) -> None:
    """What a form of any page can send is not taken."""
    found = guard.check_content(request("POST", content_type=kind))
    assert found is not None and found.status == 415
    assert guard.check_content(request("POST", content_type="application/json; charset=utf-8")) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer secret"},
        {"authorization": "bearer  secret"},
        {"x_api_key": "secret"},
        {"x_goog_api_key": "secret"},
    ],
)
def test_a_token_is_taken_from_each_place(headers: dict[str, str]) -> None:
    """Each API has another header for it."""
    assert guard.given_token(request(**headers)) == "secret"
    assert guard.given_token(Request("GET", "/", {"key": "secret"}, OWN)) == "secret"


@given(st.text(), st.dictionaries(st.text(min_size=1), st.text(min_size=1), max_size=4))
def test_only_the_very_token_matches(token: str, known: dict[str, str]) -> None:
    """A name comes out exactly where its token went in; the empty token is nobody's."""
    digests = {name: guard.digest_of(text) for name, text in known.items()}
    found = guard.matching_name(token, digests)
    assert (found is not None) == (bool(token) and token in known.values())


def test_many_wrong_tokens_block_an_address_for_the_minute() -> None:
    """And only that address."""
    counter = guard.FailureCounter()
    for _ in range(guard.MAX_FAILURES):
        assert not counter.is_blocked("10.0.0.1", 100.0)
        counter.note_failure("10.0.0.1", 100.0)
    assert counter.is_blocked("10.0.0.1", 110.0) and not counter.is_blocked("10.0.0.2", 110.0)
    assert not counter.is_blocked("10.0.0.1", 181.0)
