"""Which addresses may be fetched: only public ones, each with one spelling."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.builtin.test_fetch import PUBLIC

from turnout.tools.confine.addresses import Forbidden, WebTarget, choose_address, refusal, target


@given(st.ip_addresses())
def test_only_global_addresses_are_public(address: Any) -> None:
    """Ours is the narrower view: whatever Python calls private, reserved or multicast is refused."""
    if not refusal(str(address)):
        assert address.is_global and not address.is_multicast and not address.is_reserved


def test_no_address_at_all_is_a_refusal() -> None:
    """An empty answer is no permission."""
    with pytest.raises(Forbidden):
        choose_address("example.com", [])


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://example.com", WebTarget("http", "example.com", 80, "/")),
        ("https://EXAMPLE.com.:443/a?b=c#d", WebTarget("https", "example.com", 443, "/a?b=c")),
        ("https://example.com:1024/", WebTarget("https", "example.com", 1024, "/")),
        ("https://bücher.example.de/ä", WebTarget("https", "xn--bcher-kva.example.de", 443, "/%C3%A4")),
        ("https://93.184.216.34/", WebTarget("https", "93.184.216.34", 443, "/")),
        ("https://[2606:4700:4700:0::1111]/", WebTarget("https", "2606:4700:4700::1111", 443, "/")),
    ],
)
def test_a_public_address_has_one_spelling(url: str, read: WebTarget) -> None:
    """Host, port and path as they are dialled and asked for."""
    assert target(url) == read


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://example.com/a b", "control characters"),
        ("https://example.com/\x00", "control characters"),
        ("https://example.com/\x7f", "control characters"),
        ("https://example.com/a\\b", "backslashes"),
        ("https://example.com/" + "a" * 4000, "longer than 4,000"),
        ("https://example.com:1023/", "port 1023"),
        ("https://" + "a." * 130 + "com/", "not a host name"),
        ("https://user@example.com/", "user name"),
    ],
)
def test_an_address_that_is_refused_says_why(url: str, why: str) -> None:
    """The model can then write it otherwise."""
    with pytest.raises(Forbidden, match=why):
        target(url)


def test_public_addresses_are_public() -> None:
    """Of either kind; what nobody should dial is not, whoever calls it global."""
    assert [refusal(address) for address in (PUBLIC, "8.8.8.8", "2606:4700:4700::1111")] == ["", "", ""]
    assert all(
        refusal(address) for address in ("2002:808:808::1", "100.100.100.200", "192.88.99.1", "ff0e::1", "x")
    )


@given(st.text(max_size=80))
def test_reading_an_address_never_fails_otherwise(text: str) -> None:
    """It is a target on the public web or a refusal in words."""
    for url in (text, f"http://{text}", f"https://{text}/"):
        try:
            place = target(url)
        except Forbidden as error:
            assert str(error)
            continue
        assert place.scheme in ("http", "https") and place.host and place.path.startswith("/")
        assert place.url.isascii() and " " not in place.url
        assert target(place.url) == place
