"""A key that a server echoes, in whatever encoding, leaves the process nowhere."""

from __future__ import annotations

import json
import re
import traceback
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from html import escape
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.talk import everything, session, virtually

from turnout import Outcome, tool
from turnout.errors import ProviderError
from turnout.model import ModelTurn
from turnout.runtime.events import Failed, Nested, Status
from turnout.runtime.redact_events import EventRedactor
from turnout.runtime.secrets import Secrets
from turnout.simulate import Call, HttpError, Say, StreamError
from turnout.streaming.events import Done, TextDelta, ThinkingDelta, ToolCallDelta
from turnout.tools.events import ToolProgress, ToolResult

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
HIDDEN = Secrets({"X_KEY": KEY})
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
    script = [[Say("Half"), StreamError(message=f"key <{write(KEY)}> expired")]] * 9
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


def fed(*events: Any) -> list[Any]:
    redactor = EventRedactor(HIDDEN)
    return [shown for event in events for shown in redactor.feed(event)]


@given(st.lists(st.integers(0, 60), max_size=8), st.sampled_from([TextDelta, ThinkingDelta]))
def test_a_key_cut_by_deltas_is_hidden_however_it_is_cut(cuts: list[int], kind: Any) -> None:
    """Nothing else is lost, and nothing comes out of order."""
    text = f"before {KEY} between {KEY[:9]} after {ENCODINGS['base64'](KEY)}"
    places = sorted({0, len(text), *(cut * len(text) // 60 for cut in cuts)})
    deltas = [kind(text[a:b]) for a, b in pairwise(places)]
    shown = fed(*deltas, Done("end"))
    assert isinstance(shown[-1], Done)
    whole = "".join(event.text for event in shown[:-1])
    assert whole.startswith(f"before [redacted] between {KEY[:9]} after [redacted]")
    assert KEY not in whole


def test_pieces_of_parallel_calls_are_kept_apart() -> None:
    """Arguments of two calls come by turns; each is put together for itself."""
    half = len(KEY) // 2
    written = json.dumps(KEY)[1:-1]
    shown = fed(
        ToolCallDelta("a", written[:half]),
        ToolCallDelta("b", "harmless"),
        ToolCallDelta("a", written[half:]),
        Done("tool_calls"),
    )
    texts = {id: "".join(e.args_delta for e in shown[:-1] if e.id == id) for id in "ab"}
    assert texts == {"a": "[redacted]", "b": "harmless"}


def test_progress_and_subagents_hide_keys_too() -> None:
    """Whatever a listener can be told goes through the same place."""
    shown = fed(
        ToolProgress("a", text=KEY, output=f"{KEY}\n"),
        Nested("a", ToolResult("b", "x", Outcome("complete", f"{KEY}!"))),
    )
    assert shown[0] == ToolProgress("a", text="[redacted]", output="[redacted]\n")
    assert shown[1].event.outcome.text == "[redacted]!"


def test_without_secrets_events_pass_as_they_are() -> None:
    """The very same objects, at no cost."""
    delta = TextDelta("x")
    (shown,) = EventRedactor(Secrets({})).feed(delta)
    assert shown is delta


def test_short_values_are_not_hidden() -> None:
    """A key of `x`, as local servers take it, would blot out every x."""
    assert Secrets({"LOCAL_API_KEY": "x"}).hide_known("x y z") == "x y z"
