"""What a target adds to its requests: headers, query, body and options; never a credential."""

from __future__ import annotations

import pytest

import turnout
from turnout import History, UsageError
from turnout.targets.additions import checked_headers, checked_query


def history() -> History:
    made = History()
    made.user("hi")
    return made


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer x"},
        {"X-Api-Key": "x"},
        {"x-auth-token": "x"},
        {"helicone-auth": "x"},
        {"Cookie": "a=b"},
        {"x-team": "Bearer sk-0123456789abcdef0123"},
        {"x-note": "sk-ant-0123456789abcdef"},
    ],
)
def test_a_header_that_looks_like_a_credential_is_refused(headers: dict[str, str]) -> None:
    """The error names the header and the place where keys belong, and does not quote the value."""
    with pytest.raises(UsageError, match="api_key=") as refused:
        turnout.target("openai:gpt-5.1", headers=headers)
    assert next(iter(headers.values())) not in str(refused.value) or len(next(iter(headers.values()))) < 4


@pytest.mark.parametrize("name", ["x-max-tokens", "x-tokenizer", "openai-organization", "anthropic-beta"])
def test_a_header_that_only_sounds_alike_is_taken(name: str) -> None:
    """Counts of tokens, tokenizers and names of organizations are not secrets."""
    assert checked_headers({name: "1"}) == {name: "1"}


def test_what_belongs_to_the_request_itself_is_refused() -> None:
    """A second length or type would break the request; a key in the address would be in logs."""
    for wrong in ({"Content-Length": "3"}, {"two words": "x"}, {"x": 3}):
        with pytest.raises(UsageError):
            checked_headers(wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="credential"):
        checked_query({"api_key": "x"})
    with pytest.raises(TypeError, match="temperature"):
        turnout.target("openai:gpt-5.1", temprature=1)
