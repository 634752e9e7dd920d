"""What a page in the browser costs the server: CPU until its bytes are there, and how many they are.

A conversation of 1,000 turns, drawn for the first time (no text of it was parsed before) and again, and the
lists over 100,000 requests. Goals: a first screen of 300 kB and 200 ms, a list in 100 ms.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.surfaces.pages.shown import Shown, request_record, shown

from bench.measure import best, milliseconds, print_table
from turnout import History, Outcome, Text, ToolCall, Usage
from turnout.surfaces.shared.conversation_html import markdown

TURNS = 1000
REQUESTS = 100_000
LISTS = ("/requests", "/requests?errors=1", "/requests?words=nothing", "/requests?group=client", "/numbers")


def run() -> None:
    with tempfile.TemporaryDirectory() as folder, shown(Path(folder)) as made:
        made.store.add(long_conversation())
        for number in range(REQUESTS):
            made.memory.add_request(request_record(number))
        made.memory.flush()
        made.sign_in()
        rows = [_row(made, f"{TURNS:,} turns, first time", "/sessions/long", markdown.forget_parsed)]
        rows += [_row(made, f"{TURNS:,} turns, {name}", url) for name, url in CONVERSATION.items()]
        rows += [_row(made, f"{REQUESTS:,} requests, `{url}`", url) for url in LISTS]
        print_table(("page", "kB", "ms of CPU"), rows)


CONVERSATION = {
    "again": "/sessions/long",
    "the beginning": "/sessions/long?from=1",
    "what is new in it": "/sessions/long/live?from=1990",
    "as another provider": "/sessions/long/as/gemini:gemini-2.5-pro",
}


def _row(made: Shown, name: str, url: str, before: Callable[[], object] | None = None) -> tuple[object, ...]:
    def work() -> None:
        if before is not None:
            before()
        made.text(url)

    return name, f"{len(made.text(url)) / 1000:.0f}", milliseconds(best(work))


def long_conversation() -> History:
    """1,000 turns as a coding agent has them: questions, answers in Markdown, calls with long results."""
    history = History("long")
    for number in range(TURNS // 2):
        history.user(f"question {number} " + "words and more " * 40)
        text = Text(f"answer {number}: " + "words and `code` **bold** " * 60)
        call = ToolCall(f"c{number}", "shell", {"command": "ls -l\npwd"})
        turn = history.reply("openai:gpt-5.1", [text, call], usage=Usage(input=100, output=10))
        history.start(turn.tool_calls[0].id)
        history.settle(turn.tool_calls[0].id, Outcome("complete", "result line\n" * 60))
    return history
