"""Hostile texts in every field, on every page: nothing is unescaped, and the page still answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from tests.corpus import share
from tests.surfaces.pages.hostile import HOSTILE, check_page, hostile_history
from tests.surfaces.pages.shown import BODY, Shown, request_record, shown

from turnout import ToolCall
from turnout.history.waiting import WaitingCall
from turnout.model import Origin
from turnout.surfaces.pages.request_records import GROUPS

KINDS = range(len(HOSTILE))


def storable(text: str) -> str:
    """A text as JSON and SQLite can hold it: without lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def check_address(made: Shown, url: str, **more: str) -> None:
    """The address answers, and what it answers is ours."""
    answer = made.ask(url, **more)
    assert answer.status in (200, 303, 404) and isinstance(answer.body, bytes), (url[:80], answer.status)
    if answer.headers.get("content-type", "").startswith("text/html"):
        check_page(answer.body.decode(), is_export="export" in url)
    else:  # plain texts are sent as such, and the policy forbids everything
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_there_are_forty() -> None:
    """Scripts, bidi, control bytes, 10 MB, broken Markdown, huge tables."""
    assert len(HOSTILE) >= 40 and max(map(len, HOSTILE)) >= 10_000_000


@pytest.mark.parametrize("at", KINDS)
def test_a_conversation_is_only_text(tmp_path: Path, at: int) -> None:
    """In every field of a session: the list, the page, its live part, as another provider, the export."""
    text = HOSTILE[at]
    with shown(tmp_path) as made:
        made.store.add(hostile_history("h", text), title=storable(text[:300]))
        check_address(made, "/sessions")
        check_address(made, "/sessions?group=model")
        check_address(made, "/sessions/h")
        check_address(made, "/sessions/h?from=1")
        check_address(made, "/sessions/h/live?from=1")
        check_address(made, "/sessions/h/export.html")
        check_address(made, "/sessions/h/text/2")
        check_address(made, "/sessions/h/media/1/1")
        check_address(made, "/sessions/h/as/gemini:gemini-2.5-pro?against=anthropic:claude-sonnet-4-5")


def hostile_record(at: int, text: str) -> dict[str, Any]:
    short = storable(text[:500])
    texts = ("asked", "client", "agent", "error", "target", "conversation", "stop", "protocol")
    lists = ("repaired", "dropped", "steps")
    fields = {**dict.fromkeys(texts, short), **{name: [short] for name in lists}}
    return request_record(at, **fields)


def hostile_bodies(text: str) -> bytes:
    """Bodies that a client and a provider saw: JSON with the text in it, or the text alone."""
    message = {"role": "user", "content": storable(text[:100_000])}
    call = {"id": storable(text[:60]), "type": "function", "function": {"name": "x", "arguments": text[:500]}}
    body = {**BODY, "messages": [message, {"role": "assistant", "tool_calls": [call]}, message]}
    return json.dumps({"received": json.dumps(body), "sent": storable(text[:100_000])}).encode()


def test_requests_are_only_text(tmp_path: Path) -> None:
    """In every field of a request's record and in its bodies: the list, each group, the page, the numbers."""
    with shown(tmp_path) as made:
        for at, text in enumerate(HOSTILE):
            made.memory.add_request(hostile_record(at, text), hostile_bodies(text))
        for at, text in enumerate(HOSTILE):  # a protocol of ours, so that the body is read again
            record = {
                **hostile_record(at, text),
                "id": f"chat_{at}",
                "protocol": "chat",
                "target": "kimi:kimi-k2.5",
            }
            made.memory.add_request(record, hostile_bodies(text))
        made.memory.flush()
        check_address(made, "/requests")
        for name in GROUPS:
            check_address(made, f"/requests?group={name}")
        check_address(made, "/numbers?days=3650")
        for at in KINDS:
            check_address(made, f"/requests/req_{at:06}")
            check_address(made, f"/requests/chat_{at}")


def test_numbers_are_only_text(tmp_path: Path) -> None:
    """Providers and models that a configuration names are names on the page of numbers."""
    with shown(tmp_path) as made:
        for text in HOSTILE:
            name = storable(text[:200]) or "x"
            made.store.counters("replies", Origin(name, name, name), 1)
        made.store.counters.flush()
        check_address(made, "/numbers?days=3650")


def test_waiting_calls_are_only_text(tmp_path: Path) -> None:
    """In the name, the arguments and every part of the question: all in view, none of it acts."""
    with shown(tmp_path) as made:
        for at, text in enumerate(HOSTILE):
            short = storable(text[:20_000])
            history = made.store.open(f"w{at}")
            history.user("Go.")
            asked = ToolCall("c1", short[:100] or "x", {short[:50]: short})
            (call,) = history.reply("openai:m", [asked]).tool_calls
            question = {"why": short, "risk": short, "paths": [short[:500]], "description": short}
            kind: Any = "approval" if at % 2 else "external"
            waiting = WaitingCall(f"w{at}", call.id, call.name, dict(call.arguments), kind, question)
            history.note("waiting_call", msgspec.to_builtins(waiting))
            made.store.release(f"w{at}")
        check_address(made, "/waiting")


def test_addresses_are_only_text(tmp_path: Path) -> None:
    """What a link of someone else puts into an address is text on the page that answers."""
    with shown(tmp_path) as made:
        made.store.add(hostile_history("h", "x"))
        made.add_requests(2)
        for text in share(HOSTILE, 3):
            word = quote(storable(text[:300]), safe="")
            for name in ("words", "provider", "client", "group", "page", "before", "conversation", "days"):
                check_address(made, f"/requests?{name}={word}")
                check_address(made, f"/sessions?{name}={word}")
            check_address(made, f"/sessions/h?from={word}")
            check_address(made, f"/sessions/h/as?target={word}&against={word}")
            check_address(made, f"/sessions/h/as/{word}?against={word}")
            check_address(made, f"/sessions/{word}")
            check_address(made, f"/requests/{word}")
