"""Whatever a provider says when it fails becomes one error with a kind, a code, a wait and no secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus import needs_corpus, refusals
from tests.replies import FIXTURES

from turnout import StreamError, decode
from turnout.errors import ProviderError
from turnout.plain import loads
from turnout.wire.failure.broken_rule import RULES, broken_rule
from turnout.wire.failure.read_failure import failure, stream_failure, undecodable
from turnout.wire.shared.redaction import redact_keys

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


def fail(status: int, body: Any = b"", **headers: str) -> ProviderError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return failure(status, {name.replace("_", "-"): value for name, value in headers.items()}, data, NOW)


def openai(message: str, type: str = "invalid_request_error", code: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": type, "param": None, "code": code}}


def google(code: int, status: str, message: str, *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def anthropic(type: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": type, "message": message}}


FAILED = {"status": "failed", "error": {"code": "server_error", "message": "x"}}
LONG = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."
FAILURES = [loads(line) for line in (FIXTURES / "failures.jsonl").read_bytes().splitlines()]
REFUSALS = loads((FIXTURES / "refusals.json").read_bytes())


@pytest.mark.parametrize("case", FAILURES, ids=lambda case: f"{case['from']}-{case['status']}-{case['kind']}")
def test_each_family_s_failures_have_a_kind(case: dict[str, Any]) -> None:
    """By the words for codes, by the sentence, by the status, in that order."""
    body = case["text"].encode() if "text" in case else case["body"]

    assert fail(case["status"], body).kind == case["kind"]


@pytest.mark.parametrize(
    ("payload", "kind", "code"),
    [
        (anthropic("overloaded_error", "Overloaded"), "overloaded", "overloaded_error"),
        (anthropic("api_error", "Internal server error"), "server", "api_error"),
        ({"error": {"message": "Provider disconnected", "code": 502}}, "server", "502"),
        ({"error": {"code": 429, "message": "Rate limit exceeded"}, "choices": []}, "rate_limit", "429"),
        ({"object": "error", "message": LONG, "code": 400}, "context_too_long", "400"),
        (google(503, "UNAVAILABLE", "overloaded"), "overloaded", "UNAVAILABLE"),
        ({"type": "error", "code": "rate_limited", "message": "slow"}, "rate_limit", "rate_limited"),
        ({"type": "response.failed", "response": FAILED}, "server", "server_error"),
        ({"error": "an unknown error was encountered while running the model"}, "server", ""),
        ({"code": "Unavailable", "error": "The model is at capacity."}, "overloaded", "Unavailable"),
        (
            {"detail": [{"loc": ["body"], "msg": "Field required", "type": "missing"}]},
            "invalid_request",
            "missing",
        ),
        (
            {"error": {"message": "bad", "code": "invalid_request_body"}},
            "invalid_request",
            "invalid_request_body",
        ),
    ],
)
def test_errors_inside_a_stream_have_a_kind(payload: Any, kind: str, code: str) -> None:
    """They have no HTTP status, so the words must do."""
    error = stream_failure(payload)

    assert (error.kind, error.code) == (kind, code)


RESETS = {"x_ratelimit_reset_requests": "6m0s", "x_ratelimit_reset_tokens": "120ms"}
MINUTE = {"error": {"message": "Slow down", "type": "rate_limit_error"}}


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry_After": "30"}, MINUTE, 30),
        ({"retry_after": "0.5"}, MINUTE, 0.5),
        ({"retry_after": "Fri, 15 Jan 2027 08:01:30 GMT"}, MINUTE, 90),
        ({"retry_after": "Fri, 15 Jan 2027 07:00:00 GMT"}, MINUTE, 0),
        ({"retry_after_ms": "1500", "retry_after": "30"}, MINUTE, 1.5),
        ({"retry_after": "soon"}, MINUTE, None),
        (RESETS, MINUTE, 360),
        ({**RESETS, "x_ratelimit_remaining_tokens": "0"}, MINUTE, 0.12),
        ({"anthropic_ratelimit_tokens_reset": "2027-01-15T08:00:20Z"}, MINUTE, 20),
        ({"anthropic_ratelimit_tokens_reset": "2027-01-15T09:00:20+01:00"}, MINUTE, 20),
        ({"x_ratelimit_reset": "1800000045000"}, MINUTE, 45),
        ({"x_ratelimit_reset": "1800000045"}, MINUTE, 45),
        ({}, google(429, "RESOURCE_EXHAUSTED", "Slow", {"@type": "RetryInfo", "retryDelay": "34.5s"}), 34.5),
        ({}, openai("Rate limit reached. Please try again in 6m0s."), 360),
        ({}, openai("Rate limit reached. Please try again in 1.2s. Visit x."), 1.2),
        ({}, openai("Rate limit reached. Please retry after 20 seconds."), 20),
        ({}, {"error": {"code": 429, "metadata": {"headers": {"X-RateLimit-Reset": "1800000010000"}}}}, 10),
        ({"retry_after": "99999999"}, MINUTE, 7 * 24 * 3600),
        ({}, MINUTE, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], body: Any, seconds: float | None) -> None:
    """Whoever says so most directly is believed, within a week."""
    waited = fail(429, body, **headers).retry_after

    assert waited == pytest.approx(seconds) if seconds is not None else waited is None


def test_a_date_without_a_clock_says_nothing() -> None:
    """The clock is the caller's; without it a date cannot be turned into seconds."""
    headers = {"retry-after": "Fri, 15 Jan 2027 08:01:30 GMT"}

    assert failure(429, headers, json.dumps(MINUTE).encode()).retry_after is None


def test_waiting_is_not_offered_where_it_cannot_help() -> None:
    """A refused request stays refused, whatever a gateway writes in its headers."""
    assert fail(400, openai("Bad parameter"), retry_after="5").retry_after is None


@pytest.mark.parametrize(("rule", "sentence"), REFUSALS.items())
def test_the_broken_rule_is_named(rule: str, sentence: str) -> None:
    """When the refusal is one that is known, whoever passes it on."""
    quoted = {
        "error": {
            "message": "Provider returned error",
            "code": 400,
            "metadata": {"raw": json.dumps(openai(sentence))},
        }
    }

    assert fail(400, openai(sentence)).rule == rule
    assert fail(400, anthropic("invalid_request_error", sentence.upper())).rule == rule
    assert (fail(400, quoted).kind, fail(400, quoted).rule) == ("invalid_request", rule)


def test_every_row_finds_itself() -> None:
    """No row is hidden behind another one of a different rule."""
    for rule, parts in RULES:
        assert broken_rule(" … ".join(parts)) == rule


def test_other_refusals_name_no_rule() -> None:
    """A wrong temperature has nothing to do with tools."""
    assert fail(400, openai("Invalid 'temperature': decimal above maximum value.")).rule == ""


SECRETS = [
    "sk-proj-abcdefghijklmnopqrstuvwx",
    "sk-ant-api03-abcdefghijklmnop",
    "AIzaSyA1234567890abcdefghijklmnopq",
    "gsk_abcdefghijklmnopqrstuvwx",
    "xai-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrst1234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
    "AKIAIOSFODNN7EXAMPLE",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_keys_are_not_kept(secret: str) -> None:
    """Neither in the message nor in the excerpt, wherever they stand."""
    error = fail(401, openai(f"Incorrect API key provided: {secret}. Bearer {secret} or ?key={secret}&x=1"))

    assert secret not in error.message
    assert secret not in error.body
    assert secret not in str(error)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [redacted]"),
        ('{"api_key": "hunter2"}', '{"api_key": "[redacted]"}'),
        ("https://x.test/v1?key=hunter2&alt=sse", "https://x.test/v1?key=[redacted]&alt=sse"),
        ("Incorrect API key provided: hunter2. Bye", "Incorrect API key provided: [redacted] Bye"),
        ("invalid bearer token, max_tokens: 5, toolu_01ABCDEFGHIJKLMNOPQR", None),
    ],
)
def test_what_is_redacted(text: str, shown: str | None) -> None:
    """What follows a word for a secret, and nothing that only sounds like one."""
    assert redact_keys(text) == (text if shown is None else shown)


def test_an_excerpt_is_bounded() -> None:
    """A megabyte of HTML is not carried around in an exception."""
    error = fail(500, b"<html>" + b"x" * 1_000_000)

    assert len(error.body) <= 2000
    assert len(error.message) <= 2000


def test_a_web_page_is_named_by_its_title() -> None:
    """Which is as much as one wants to read of it."""
    assert (
        fail(502, b"<html><title>Bad\n gateway</title>").message
        == "the provider answered 502 with a web page: Bad gateway"
    )


@pytest.mark.parametrize(
    ("data", "kind", "word"),
    [
        (b"", "truncated", "nothing"),
        (b" <!doctype html><p>Sign in", "malformed", "web page"),
        (b'{"a": [1, {"b"', "truncated", "broke off"),
        (b"{bad}", "malformed", "not JSON"),
        (b"oops", "malformed", "not JSON"),
    ],
)
def test_s105_bytes_that_are_not_json(data: bytes, kind: str, word: str) -> None:
    """One that stops in the middle was cut; any other never was JSON."""
    told, message = undecodable(data)

    assert told == kind
    assert word in message


names = st.sampled_from(["error", "message", "code", "type", "details", "metadata", "raw", "status"])
quoted = st.sampled_from(["{}", '{"error": "x"}', "["])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | quoted,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=10,
)
texts = st.text(max_size=20)


@given(st.integers(100, 599), values)
def test_no_body_raises(status: int, body: Any) -> None:
    """Whatever JSON comes with whatever status, it is an error with a kind and a message."""
    for error in (fail(status, json.dumps(body).encode()), stream_failure(body)):
        assert error.kind and isinstance(error.message, str) and error.message


@given(
    st.integers(100, 599),
    st.binary(max_size=200),
    st.dictionaries(st.text(max_size=20), st.text(max_size=20)),
)
def test_no_bytes_raise(status: int, body: bytes, headers: dict[str, str]) -> None:
    """Nor do bytes and headers that make no sense."""
    assert failure(status, {**headers, "retry-after": "".join(headers)}, body, NOW).message


@needs_corpus
def test_recorded_refusals_have_a_kind() -> None:
    """Every recorded error body is understood: nothing falls back to its bare status without cause."""
    kinds_of_status: dict[int, set[str]] = {
        400: {"invalid_request", "context_too_long", "not_found", "auth"},
        401: {"auth"},
        403: {"auth"},
        404: {"not_found"},
        429: {"rate_limit", "quota"},
        500: {"server"},
    }
    for exchange in refusals():
        error = failure(exchange.status, exchange.meta["response_headers"], exchange.body)
        assert error.kind in kinds_of_status[exchange.status], (exchange.id, error.kind)
        assert exchange.meta["error_text"][:40] in error.message or "[redacted]" in error.message, exchange.id


def test_taking_keys_out_twice_is_taking_them_out_once() -> None:
    """What passes two sinks reads the same as what passes one."""
    once = redact_keys("Authorization: Bearer sk-0123456789abcdef, api_key=abc; and [redacted]")
    assert redact_keys(once) == once == "Authorization: Bearer [redacted], api_key=[redacted]; and [redacted]"


@pytest.mark.parametrize(
    ("body", "begins"),
    [
        (b"<html>502 Bad Gateway</html>", "<html>502"),
        (b"upstream connect error", "upstream"),
        (b'data: {"choices":[{"delta":{"content":"sk-0123456789abcdef"}}]}\n\n', "data: "),
        (b'data: {"a":"\xff sk-0123456789abcdef"}\n\n', "data: "),
    ],
)
def test_a_broken_reply_keeps_how_it_began_without_keys(body: bytes, begins: str) -> None:
    """A stream error carries the beginning of the body, as a provider's error does."""
    with pytest.raises(StreamError) as caught:
        decode("openai", body)

    assert caught.value.body.startswith(begins)
    assert "sk-0123" not in caught.value.body + caught.value.message


@pytest.mark.parametrize("api", ["openai", "openai-responses", "anthropic", "gemini", "mistral", "ollama"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"message": "Unauthorized", "request_id": "x"}, "auth"),
        ({"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}, "invalid_request"),
    ],
)
def test_a_gateways_own_words_are_understood_before_any_api(api: str, body: Any, kind: str) -> None:
    """What stands before a provider words its failures as it likes; the kind does not depend on the API."""
    with pytest.raises(ProviderError) as caught:
        decode(api, body)

    assert caught.value.kind == kind
