"""A history as rows: who, what came of each call, what happened between turns, and how much of it."""

from __future__ import annotations

from tests.surfaces.pages.shown import sample_history

from turnout import History, Outcome, ToolCall
from turnout.surfaces.shared.conversation_html.blocks import SHOWN
from turnout.surfaces.shared.conversation_html.rows import PAGE_SIZE, ConversationReader, provider_colour


def rows_of(history: History, **more: str) -> list:  # type: ignore[type-arg]
    times = [1_790_000_000.0 + at for at in range(len(history.entries))]
    return ConversationReader(history, times, more.get("media_base", "/m")).all_rows()


def test_every_call_has_one_outcome_with_state_and_duration() -> None:
    """Each call is shown with its status, how long it ran, and why turnout made its outcome."""
    rows = rows_of(sample_history())
    calls = [block.call for row in rows for block in row.blocks if block.call]
    assert [call.status for call in calls] == ["complete", "error", "interrupted"]
    assert calls[0].seconds == 2.0 and calls[2].seconds is None
    assert calls[2].synthetic == "stopped" and not calls[0].synthetic


def test_parallel_calls_are_a_timeline() -> None:
    """Two calls of one turn that ran are two bars, within the whole."""
    (bars,) = [row.bars for row in rows_of(sample_history()) if row.bars]
    assert len(bars) == 2 and all(bar.start >= 0 and bar.start + bar.width <= 101 for bar in bars)


def test_a_switch_and_a_failover_are_marked() -> None:
    """A switch is told; another provider's answer without one is told as standing in."""
    history = History("h")
    history.user("a")
    history.reply("openai:a", "x")
    history.note("switch", {"target": "kimi:b"})
    history.user("b")
    history.reply("kimi:b", "x")
    history.user("c")
    history.reply("gemini:c", "x")
    marks = [row.text for row in rows_of(history) if row.kind == "mark"]
    assert marks == ["Switched to kimi:b", "Answered by gemini:c in place of kimi:b"]


def test_a_compaction_keeps_what_was_said_in_view() -> None:
    """The turns above a summary stay on the page, and the summary is marked."""
    history = sample_history()
    history.compact(history.turns[2].key, "A *summary*.")
    rows = rows_of(history)
    (mark,) = [row for row in rows if row.stop == "compaction"]
    assert "<em>summary</em>" in mark.blocks[0].html and sum(row.kind == "user" for row in rows) == 2


def test_a_long_conversation_is_shown_in_parts() -> None:
    """1,000 turns: the first page stays small, all parts together hold every turn once."""
    history = History("long")
    for number in range(500):
        history.user(f"question {number} " + "words " * 100)
        turn = history.reply("openai:m", [f"answer {number}", ToolCall(f"c{number}", "t", {"n": number})])
        history.settle(turn.tool_calls[0].id, Outcome("complete", "result " * 200))
    reader = ConversationReader(history, [0.0] * len(history.entries), "/m")
    last = reader.last_rows()
    assert 1 < len(last) < 100 and sum(row.size for row in last) < 2 * PAGE_SIZE
    forward: list[int] = []
    rows = reader.rows_from(1)
    while rows:
        forward += [row.number for row in rows]
        rows = reader.rows_from(rows[-1].place + 1)
    back: list[int] = []
    rows = reader.last_rows()
    while rows:
        back = [row.number for row in rows] + back
        rows = reader.last_rows(rows[0].place)
    assert forward == back == list(range(1, 1001))


def test_a_long_text_is_cut_and_says_so() -> None:
    """10 MB in one turn: the page shows its beginning and counts the rest."""
    history = History("big")
    history.user("word " * 2_000_000)
    (row,) = rows_of(history)
    assert row.blocks[0].left_out == 10_000_000 - SHOWN and len(row.blocks[0].html) < 3 * SHOWN


def test_a_provider_has_one_colour() -> None:
    """Known providers differ; an unknown one always gets the same colour."""
    known = [provider_colour(name) for name in ("anthropic", "openai", "gemini", "kimi", "deepseek")]
    assert len(set(known)) == 5 and provider_colour("mine") == provider_colour("mine")
