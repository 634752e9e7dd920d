"""Events on their way to listeners: no secret is in them, wherever a stream was cut."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from html import escape
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from turnout import Outcome
from turnout.session.events import Nested
from turnout.session.redact_events import EventRedactor
from turnout.streaming.events import Done, TextDelta, ThinkingDelta, ToolCallDelta
from turnout.tools.declare.events import ToolProgress, ToolResult
from turnout.world.secrets import Secrets

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
