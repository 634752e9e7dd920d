"""A key that a server echoes, in whatever encoding, leaves the process nowhere."""

from __future__ import annotations

import json
import re
import traceback
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from html import escape
from urllib.parse import quote

import pytest
from tests.session.talk import everything, session, virtually

from turnout import tool
from turnout.errors import ProviderError
from turnout.model import ModelTurn
from turnout.session.events import Failed, Status
from turnout.simulate import Call, HttpError, MidStreamError, Say
from turnout.streaming.events import TextDelta
from turnout.tools.declare.events import ToolResult

KEY = 'plain+canary/of no-known_form "7" & more letters'
"""A key of no known form, with letters that every encoding changes."""
ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "URL": lambda text: quote(text, safe=""),
    "URL in small letters": lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text, safe="")),
    "HTML": escape,
    "HTML as Go writes it": lambda text: escape(text).replace("&quot;", "&#34;"),
    "JSON as PHP writes it": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON as Go writes it": lambda text: json.dumps(text)[1:-1].replace("&", "\\u0026"),
    "hex": lambda text: text.encode().hex(),
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: urlsafe_b64encode(text.encode()).decode(),
    "base64 of a bearer header": lambda text: b64encode(f"Bearer {text}".encode()).decode(),
    "base64 of basic authentication": lambda text: b64encode(f"me:{text}".encode()).decode(),
    "base64 inside more": lambda text: b64encode(f"x {text} and more".encode()).decode(),
}
encodings = pytest.mark.parametrize("write", ENCODINGS.values(), ids=ENCODINGS)


def shows(text: str, write: Callable[[str], str] = str) -> bool:
    """Whether ten letters in a row of the middle of the key, as it was written, are in a text."""
    middle = write(KEY)[12:-8]
    return any(middle[at : at + 10] in text for at in range(len(middle) - 9))


@encodings
def test_a_refusal_that_quotes_the_key_is_shown_without_it(write: Callable[[str], str]) -> None:
    """Not in the error's words, its repr, its body or its traceback, nor in a status on the way."""
    echo = HttpError("auth", message=f"Incorrect key <{write(KEY)}> was sent")
    talk, _ = session([echo], "openai:gpt-5.1", environment={}, api_key=KEY)
    failed = virtually(everything(talk))[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, ProviderError)
    error = failed.error
    told = [str(error), repr(error), error.body, error.message, *traceback.format_exception(error)]
    assert "Incorrect key <" in str(error) and "[redacted]" in str(error)
    assert not any(shows(text, write) for text in told)


@encodings
def test_a_switch_after_such_a_refusal_tells_nothing(write: Callable[[str], str]) -> None:
    """`Status.detail` of a failover or a recovery quotes the refusal without the key."""
    refusal = HttpError("invalid_request", message=f"tool_use ids <{write(KEY)}> must be answered")
    talk, _ = session([refusal, refusal, "ok"], environment={}, api_key=KEY)
    events = virtually(everything(talk))
    statuses = [event.detail for event in events if isinstance(event, Status)]
    assert any("[redacted]" in detail for detail in statuses)
    assert not any(shows(detail, write) for detail in statuses)


@encodings
def test_an_error_within_a_stream_is_told_without_the_key(write: Callable[[str], str]) -> None:
    """The same after the reply had begun."""
    script = [[Say("Half"), MidStreamError(message=f"key <{write(KEY)}> expired")]] * 9
    talk, _ = session(script, environment={}, api_key=KEY)
    failed = virtually(everything(talk))[-1]
    assert isinstance(failed, Failed)
    assert not shows(str(failed.error) + repr(failed.error) + getattr(failed.error, "body", ""), write)


def test_an_old_key_is_hidden_after_it_was_renewed() -> None:
    """A server may name the key of before."""
    given = iter(["the-first-canary", "the-second-canary"])
    script = [HttpError("auth", message="no"), HttpError("auth", message="not the-first-canary either")]
    talk, _ = session(script, environment={}, api_key=lambda: next(given))
    failed = virtually(everything(talk))[-1]
    assert isinstance(failed, Failed) and "not [redacted] either" in str(failed.error)


@tool(risk="read")
async def settings() -> str:
    """Read the settings."""
    return f"OPENAI_API_KEY={KEY}"


def test_a_tool_that_reads_the_key_shows_it_to_nobody_who_listens() -> None:
    """Events hide it; the history keeps what was read, or the model could not edit that file."""
    script = [[Call("settings", {})], [Say(f"It is {KEY}.")]]
    talk, _ = session(script, environment={}, api_key=KEY, tools=[settings])
    events = virtually(everything(talk))
    results = [event.outcome.text for event in events if isinstance(event, ToolResult)]
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert results == ["OPENAI_API_KEY=[redacted]"] and said == "It is [redacted]."
    assert [one.outcome.text for one in talk.history.ledger if one.outcome] == [f"OPENAI_API_KEY={KEY}"]
    last = talk.history.turns[-1]
    assert isinstance(last, ModelTurn) and last.text == f"It is {KEY}."
