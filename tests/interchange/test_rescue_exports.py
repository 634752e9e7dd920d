"""A repaired session in the formats of Claude Code, Codex and pi."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.interchange.foreign.sample_sessions import refused, told

from turnout.history.log import History
from turnout.interchange.foreign import READERS
from turnout.interchange.rescue_exports import WRITERS, NewFile
from turnout.model import Origin, Outcome, Text, ToolCall

NEW = NewFile("12345678-1234-5678-1234-567812345678", Path("/w/p"), "2026-01-02T03:04:05.000Z", "A title")
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=12)


def conversation(steps: list[tuple[str, int]]) -> History:
    history = History("rescued")
    for at, (words, calls) in enumerate(steps):
        history.user(f"ask {words}")
        blocks = [ToolCall(f"c{at}x{n}", "read_file", {"path": f"{words}{n}"}) for n in range(calls)]
        turn = history.reply(Origin("kimi", "", "kimi-k2.5"), [Text(f"say {words}"), *blocks])
        for call in turn.tool_calls[: calls - at % 2]:
            history.settle(call.id, Outcome("complete", (Text(f"saw {words}"),)))
    history.user("and now?")
    return history


@given(st.lists(st.tuples(WORDS, st.integers(0, 3)), min_size=1, max_size=5))
def test_what_was_said_is_read_back_in_every_format(steps: list[tuple[str, int]]) -> None:
    """Same turns, same calls, same outcomes; a call that was never answered has a result in the file."""
    history = conversation(steps)
    for program, write in WRITERS.items():
        again = READERS[program](write(history, NEW).data, "again").history
        calls = [line.count("read_file") for line in told(history) if line.startswith("model")]
        assert [line.count("read_file") for line in told(again) if line.startswith("model")] == calls, program
        whole = "\n".join(told(again))
        assert all(f"ask {words}" in whole and f"say {words}" in whole for words, _ in steps), program
        assert "=pending" not in whole
        assert refused(again) == [], program


def test_each_file_has_the_frame_that_its_program_needs() -> None:
    """Session id, folder and links in every record; the place is where the program looks."""
    history = conversation([("hello", 1)])
    claude, codex, pi = (write(history, NEW) for write in WRITERS.values())

    records = [json.loads(line) for line in claude.data.splitlines()]
    spoken = [record for record in records if record["type"] in ("user", "assistant")]
    assert spoken[0]["parentUuid"] is None
    assert all(one["parentUuid"] == before["uuid"] for before, one in pairwise(spoken))
    assert all(one["sessionId"] == NEW.id and one["cwd"] == "/w/p" for one in spoken)
    assert claude.place == f"projects/-w-p/{NEW.id}.jsonl"
    assert b"cache_control" not in claude.data

    head, *rest = [json.loads(line) for line in codex.data.splitlines()]
    assert head["type"] == "session_meta" and head["payload"]["id"] == NEW.id
    assert all(one["type"] in ("response_item", "event_msg") for one in rest)
    assert codex.place == f"sessions/2026/01/02/rollout-2026-01-02T03-04-05-{NEW.id}.jsonl"

    head, *rest = [json.loads(line) for line in pi.data.splitlines()]
    assert head["type"] == "session" and head["cwd"] == "/w/p"
    assert [one["parentId"] for one in rest] == [None, *(one["id"] for one in rest[:-1])]
    assert pi.place.startswith("sessions/--w-p--/")
