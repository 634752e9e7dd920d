"""Reading a request of 1,000 messages and writing it for another provider, as a gateway does.

litellm takes the same messages and is stopped at its HTTP transport; the same call with an all
but empty session is taken off. `plain build` is the simplest program for this very session, from
a history that it has already. The next request is the same conversation with one more exchange:
turnout is given the history of the request before it (`onto=`).
"""

from __future__ import annotations

import gc
from time import process_time
from typing import Any

import msgspec

from bench import conversation, plain
from bench.measure import alternate, milliseconds, print_table
from bench.render_peers import CHAT_TOOLS, Peer, peers
from turnout import History, ingest, render
from turnout.history.ingest.formats import find_format

MESSAGES = 1_000
ROUNDS = 9
FORMATS = {
    "openai": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
TARGETS = {
    "openai": "openai:gpt-5.1",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-2.5-pro",
}
NEXT = 18  # messages that the next request has more: one task of the session


def run() -> None:
    print(f"\n### A body of {MESSAGES:,} messages becomes a history, in ms CPU\n")
    _formats()
    print(f"\n### {MESSAGES:,} Chat messages become the request of a provider, in ms CPU\n")
    _beside_litellm()


def _formats() -> None:
    history = conversation.history(MESSAGES)
    earlier = conversation.history(MESSAGES - NEXT)
    rows = []
    for protocol, name in FORMATS.items():
        body, before = plain.BUILDS[protocol](history), plain.BUILDS[protocol](earlier)
        before = _without_last(before, name)
        times = alternate(
            {
                "parse": lambda: msgspec.json.decode(body),  # noqa: B023
                "ingest": lambda: ingest(body, name),  # noqa: B023
            },
            ROUNDS,
        )
        onto = _next_request(before, body, name)
        parse, whole = times["parse"], times["ingest"]
        cells = (milliseconds(parse), milliseconds(whole), f"{whole / parse:.1f}")
        rows.append((name, *cells, milliseconds(onto), milliseconds(max(0.0, onto - parse))))
    head = (
        "format",
        "parse the bytes",
        "ingest",
        "ingest / parse",
        "next request, `onto=`",
        "beyond parsing",
    )
    print_table(head, rows)


def _without_last(body: bytes, name: str) -> bytes:
    """The body without its last message, with which the session that goes on differs."""
    form, _ = find_format(name)
    value: dict[str, Any] = msgspec.json.decode(body)
    value[form.lists[0]].pop()
    return msgspec.json.encode(value)


def _next_request(before: bytes, body: bytes, name: str) -> float:
    times = []
    for _ in range(ROUNDS):
        history = ingest(before, name)
        gc.collect()
        start = process_time()
        again = ingest(body, name, onto=history)
        times.append(process_time() - start)
        assert again is history, f"{name} was read whole"
    return min(times)


def _beside_litellm() -> None:
    messages = conversation.chat(MESSAGES)
    body = msgspec.json.encode({"messages": messages, "tools": CHAT_TOOLS})
    history: History = conversation.history(MESSAGES)
    rows = []
    for protocol, target in TARGETS.items():
        work: dict[str, Any] = {
            "plain build": lambda: plain.BUILDS[protocol](history),  # noqa: B023
            "turnout, objects": lambda: render(ingest(messages), target),  # noqa: B023
            "turnout, bytes": lambda: render(ingest(body), target),  # noqa: B023
        }
        peer = next(peer for peer in peers(protocol) if _name_of(peer) == "litellm")
        if isinstance(peer, Peer):
            long, short = peer.session(MESSAGES), peer.session(0)
            work["litellm"] = lambda: peer.send(long)  # noqa: B023
            work["litellm, empty"] = lambda: peer.send(short)  # noqa: B023
            peer.send(short)
        times = alternate(work, ROUNDS)
        ours, floor = times["turnout, objects"], times["plain build"]
        theirs = times["litellm"] - times["litellm, empty"] if isinstance(peer, Peer) else None
        cells = [milliseconds(times[name]) for name in ("plain build", "turnout, objects", "turnout, bytes")]
        beside = ("not measured", "") if theirs is None else (milliseconds(theirs), f"{theirs / ours:.1f}")
        rows.append((target, *cells, f"{ours / floor:.1f}", *beside))
    print_table(
        (
            *("target", "plain build", "ingest and first render, objects", "the same, bytes"),
            *("objects / plain build", "litellm, one request", "litellm / turnout, objects"),
        ),
        rows,
    )


def _name_of(peer: Peer | tuple[str, str]) -> str:
    return peer.name if isinstance(peer, Peer) else peer[0]
