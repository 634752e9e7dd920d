"""How long to wait before a retry, in all the ways in which providers say it."""

from __future__ import annotations

import pytest

from turnout.wire.failure.retry_after import LONGEST, seconds_to_wait, span

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("6m0s", 360.0), ("34.07s", 34.07), ("120ms", 0.12), ("1 minute", 60.0), ("soon", None)],
)
def test_a_span_is_read(text: str, seconds: float | None) -> None:
    """Units may be short or long."""
    assert span(text) == (pytest.approx(seconds) if seconds is not None else None)


def test_a_header_comes_before_the_message() -> None:
    """`retry-after-ms` is the most exact."""
    headers = {"retry-after-ms": "1500", "retry-after": "30"}

    assert seconds_to_wait(headers, "Please try again in 20s.") == 1.5
    assert seconds_to_wait({}, "Please try again in 20s.") == 20.0
    assert seconds_to_wait({}, "no idea") is None


def test_a_date_needs_the_clock_of_the_caller() -> None:
    """Without one a date says nothing."""
    headers = {"retry-after": "Tue, 14 Nov 2023 22:14:20 GMT"}

    assert seconds_to_wait(headers, now=NOW) == 60.0
    assert seconds_to_wait(headers) is None


def test_a_used_up_limit_counts_before_the_others() -> None:
    """Its reset decides, and no wait is longer than a week."""
    headers = {
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "9s",
    }

    assert seconds_to_wait(headers) == 9.0
    assert seconds_to_wait({"retry-after": "99999999"}) == LONGEST
