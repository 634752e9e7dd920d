"""A hundred hostile histories, handed to seven APIs: how many requests does each library get through?

What a library sends is caught as bytes and judged by `turnout.check`, whose rules are the
providers' and share nothing with our encoders. A request is accepted when nothing speaks
against it, and whole when every user text and every result of the history is still in it.
A library that raises before it sends did not get through.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from copy import deepcopy
from importlib.metadata import distributions

from msgspec import Struct

from bench.canned import ANTHROPIC_REPLY, CHAT_REPLY, GEMINI_REPLY, Canned
from bench.handoff_peers import CONTESTANTS, MODELS, Contestant, Send
from bench.hostile import Hostile, histories, unharmed
from bench.measure import print_table
from turnout import check

RESPONSES_REPLY = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.1", "output": []}
REPLIES = {"openai-responses": RESPONSES_REPLY, "anthropic": ANTHROPIC_REPLY, "gemini": GEMINI_REPLY}
LIBRARIES = (
    "openai",
    "anthropic",
    "google-genai",
    "mistralai",
    "litellm",
    "pydantic-ai",
    "langchain",
    "turnout",
)


class Verdict(Struct, frozen=True):
    """What became of one history on its way to one API."""

    api: str
    history: Hostile
    broken: tuple[str, ...]  # the rules, or the error that the library raised
    lost: tuple[str, ...] = ()


def run() -> None:
    logging.disable(logging.WARNING)  # some say what they repair
    installed = ((found.name, found.version) for found in distributions())
    print(", ".join(" ".join(found) for found in sorted(installed) if found[0].startswith(LIBRARIES)), "\n")
    found = {name: list(judged(make, histories())) for name, make in CONTESTANTS.items()}
    before = {name: list(judged(make, unharmed())) for name, make in CONTESTANTS.items()}
    rows = [(name, *_accepted(found[name]), *_shares(found[name])) for name in CONTESTANTS]
    print_table(("of 100 hostile histories", *MODELS, "all", "all, and whole"), rows)
    print("\nThe rules most often broken, each with the number of requests:\n")
    print_table(("who", "rules"), [(name, _most_broken(found[name])) for name in CONTESTANTS])
    print("\nThe four conversations before any damage:\n")
    print_table(("of 4 handed over", *MODELS), [(name, *_accepted(before[name])) for name in CONTESTANTS])


def judged(contestant: Contestant, told: Iterable[Hostile]) -> Iterator[Verdict]:
    """Every history on its way to every API; an API is left out where the library for it is not installed."""
    told = list(told)
    for api in MODELS:
        wire = Canned(REPLIES.get(api, CHAT_REPLY))
        try:
            send = contestant(api, wire)
        except ImportError:
            continue
        for history in told:
            yield _verdict(api, wire, send, history)


def _verdict(api: str, wire: Canned, send: Send, history: Hostile) -> Verdict:
    wire.sent, raised = b"", "nothing sent"
    try:
        send(deepcopy(history))  # some write in what they are given
    except Exception as error:  # whatever a library raises; what it sent before counts
        raised = type(error).__name__
    if not wire.sent:
        return Verdict(api, history, (raised,))
    body = wire.sent.decode()
    rules = sorted({problem.rule for problem in check(api, body, model=MODELS[api])})
    return Verdict(api, history, tuple(rules), tuple(text for text in history.texts if text not in body))


def _accepted(verdicts: list[Verdict]) -> list[str]:
    accepted = Counter(verdict.api for verdict in verdicts if not verdict.broken)
    tried = {verdict.api for verdict in verdicts}
    return [str(accepted[api]) if api in tried else "not installed" for api in MODELS]


def _shares(verdicts: list[Verdict]) -> Iterator[str]:
    accepted = [verdict for verdict in verdicts if not verdict.broken]
    whole = [verdict for verdict in accepted if not verdict.lost]
    return (f"{len(these) / len(verdicts):.0%}" for these in (accepted, whole))


def _most_broken(verdicts: list[Verdict]) -> str:
    rules = Counter(rule for verdict in verdicts for rule in verdict.broken)
    return ", ".join(f"{rule} {count}" for rule, count in rules.most_common(6)) or "none"
