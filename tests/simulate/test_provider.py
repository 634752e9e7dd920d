"""One simulated provider: keys, headers, bodies, and when a script advances."""

from __future__ import annotations

import json

import pytest
from tests.build import conversation, user
from tests.simulate.refusal_requests import VERSION, orphan, post
from tests.simulate.talk import ask, key_headers, refused, send

from turnout import check, render
from turnout.history.log import History
from turnout.simulate import Say, ScriptedTransport
from turnout.targets.request import url
from turnout.targets.target import find_target as target


def test_a_refused_request_does_not_advance_the_script() -> None:
    """Steps are for requests that are accepted."""
    transport = ScriptedTransport(["Hello."])
    post(transport, "openai:gpt-4o", orphan("openai:gpt-4o"))
    history = History("h")
    history.user("hi")

    assert ask(history, "openai:gpt-4o", transport).text == "Hello."
    assert [seen.status for seen in transport.exchanges] == [400, 200]
    assert transport.refusals[0].problems[0].rule == "OAC-01"


@pytest.mark.parametrize("name", ["ollama@chat:qwen3", "vllm:qwen3", "llamacpp:qwen3"])
def test_what_is_only_a_warning_is_answered(name: str) -> None:
    """Servers on one's own machine do not look at pairing, and neither do their doubles."""
    transport = ScriptedTransport(["It is late."])
    body = json.dumps(orphan(name)).encode()

    assert check(name, body, warnings=True) and not check(name, body)
    assert send(transport, url(target(name)), key_headers(name), body)[0] == 200


KEYS = {
    "openai:gpt-4o": (401, "You didn't provide an API key", 401, "Incorrect API key provided"),
    "anthropic:claude-sonnet-4-5": (401, "x-api-key header is required", 401, "invalid x-api-key"),
    "gemini:gemini-2.5-pro": (403, "unregistered callers", 400, "API key not valid"),
    "mistral:mistral-large-latest": (401, "Unauthorized", 401, "Unauthorized"),
    "kimi:kimi-k2.6": (401, "Invalid Authentication", 401, "Invalid Authentication"),
    "xai:grok-4": (401, "No API key provided", 400, "Incorrect API key provided"),
    "openrouter:openai/gpt-5": (401, "No cookie auth credentials found", 401, "User not found."),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_missing_or_wrong_key_is_refused(name: str) -> None:
    """Each provider has its own words for no key and for a wrong one."""
    missing, no_key, wrong, bad_key = KEYS[name]
    transport = ScriptedTransport([], keys=["right"])
    body = b'{"model":"m"}'

    without = refused(transport, url(target(name)), VERSION, body)
    with_wrong = refused(transport, url(target(name)), {**VERSION, **key_headers(name, "wrong")}, body)

    assert (without.status, without.kind) == (missing, "auth") and no_key in without.message
    assert (with_wrong.status, with_wrong.kind) == (wrong, "auth") and bad_key in with_wrong.message


SCOPE = "20260101/us-east-1/bedrock/aws4_request"
SIGNED = f"AWS4-HMAC-SHA256 Credential=AKID/{SCOPE}, SignedHeaders=host, Signature=0"


@pytest.mark.parametrize(
    ("name", "taken", "not_taken"),
    [
        ("vertex:gemini-2.5-pro", ({"authorization": "Bearer t"},), ({"x-goog-api-key": "t"},)),
        (
            "cohere:command-a-03-2025",
            ({"authorization": "Bearer t"},),
            ({"x-api-key": "t"}, {"api-key": "t"}),
        ),
        (
            "bedrock:us.amazon.nova-2-lite-v1:0",
            ({"authorization": "Bearer t"}, {"authorization": SIGNED}),
            ({"x-api-key": "t"}, {"authorization": "Basic t"}),
        ),
        ("azure:gpt-4o", ({"authorization": "Bearer t"}, {"api-key": "t"}), ({"x-api-key": "t"},)),
    ],
)
def test_a_key_counts_only_where_its_provider_reads_it(
    name: str, taken: tuple[dict[str, str], ...], not_taken: tuple[dict[str, str], ...]
) -> None:
    """A bearer, a signature or a header: what another provider takes is no key here."""
    made = render(conversation(user("hi")), name)
    where = made.url.replace("PROJECT", "p").replace("LOCATION", "us-central1").replace("REGION", "us-east-1")
    for headers in taken:
        assert send(ScriptedTransport(["hi"]), where, headers, made.body)[0] == 200, headers
    for headers in not_taken:
        assert send(ScriptedTransport(["hi"]), where, headers, made.body)[0] in (401, 403), headers


def test_local_servers_ask_for_no_key() -> None:
    """What runs on your own machine answers anyone."""
    body = b'{"model":"qwen3","messages":[{"role":"user","content":"hi"}]}'

    status, _, _ = send(ScriptedTransport(["hi"]), "http://127.0.0.1:11434/v1/chat/completions", {}, body)

    assert status == 200


def test_anthropic_wants_its_version_named() -> None:
    """A request without the version header is refused."""
    error = refused(
        ScriptedTransport([]), "https://api.anthropic.com/v1/messages", {"x-api-key": "k"}, b'{"model":"m"}'
    )

    assert error.status == 400 and "anthropic-version: header is required" in error.message


def test_a_body_that_is_no_json_is_refused() -> None:
    """So is an address where nothing lives."""
    assert post(ScriptedTransport([Say("never said")]), "openai:gpt-4o", b"{").status == 400
    headers = {"authorization": "Bearer k"}
    assert refused(ScriptedTransport([]), "https://api.openai.com/v1/nowhere", headers, b"{}").status == 404
