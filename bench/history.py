"""What a history costs: one more turn early and late, memory a turn, ingest by size."""

from __future__ import annotations

import tracemalloc
from time import process_time
from typing import Any

from bench.measure import best, print_table
from turnout import History, Outcome, ToolCall, ingest, transcript

TARGET = "anthropic:claude-sonnet-4-5"


def grow(history: History, turns: int) -> None:
    for number in range(turns // 3):
        history.user(f"question {number}")
        turn = history.reply(
            "openai:gpt-5.1", ["I look.", ToolCall(f"call_{number}", "read_file", {"n": number})]
        )
        history.settle(turn.tool_calls[0].id, Outcome("complete", "x" * 200))
        history.reply("openai:gpt-5.1", f"answer {number}")


def next_turn(turns: int, rounds: int = 60) -> float:
    """CPU seconds to append one more exchange and render it, in a history of so many turns."""
    history = History("h")
    grow(history, turns)
    transcript(history, TARGET)
    times = []
    for number in range(rounds):
        start = process_time()
        history.user("again")
        turn = history.reply("openai:gpt-5.1", [ToolCall(f"x_{number}", "read_file", {})])
        history.settle(turn.tool_calls[0].id, Outcome("complete", "y"))
        transcript(history, TARGET)
        times.append(process_time() - start)
    return sorted(times)[len(times) // 2]


def memory(turns: int = 9_000) -> float:
    """Bytes a stored turn takes."""
    tracemalloc.start()
    history = History("h")
    grow(history, turns)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size / len(history.turns)


def messages(count: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for number in range(count // 4):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        made.append({"role": "user", "content": f"question {number}"})
        made.append({"role": "assistant", "content": None, "tool_calls": [call]})
        made.append({"role": "tool", "tool_call_id": f"c{number}", "content": "x" * 200})
        made.append({"role": "assistant", "content": "answer"})
    return made


def run() -> None:
    early, late = next_turn(100), next_turn(10_000)
    half, whole = messages(5_000), messages(10_000)
    at_half = best(lambda: ingest(half, format="openai-chat"), tries=3)
    at_whole = best(lambda: ingest(whole, format="openai-chat"), tries=3)
    print_table(
        ("what", "figure"),
        [
            ("append and render one exchange at turn 100", f"{early * 1e6:.0f} µs"),
            ("the same at turn 10,000", f"{late * 1e6:.0f} µs"),
            ("ratio", f"{late / early:.2f}"),
            ("memory per stored turn", f"{memory():.0f} bytes"),
            ("ingest of 10,000 messages", f"{at_whole * 1e3:.0f} ms"),
            ("ratio to 5,000 messages (2.0 is linear)", f"{at_whole / at_half:.2f}"),
        ],
    )
