"""The running count of a conversation's length is what a walk over all of it would find."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from turnout import History, Outcome, Text, ToolCall, Usage
from turnout.model import Compaction, ModelTurn, Rewind, SystemTurn, UserTurn
from turnout.session.context_size import CHARACTERS_PER_TOKEN, ContextSize, block_sizes, turn_size

OVERHEAD = 400


def tokens_by_walking(history: History) -> int:
    """The same, found anew from the log: slow, and plain to see."""
    since = 0
    for entry in reversed(history.entries):
        match entry:
            case Compaction() | Rewind():
                break
            case ModelTurn(usage=usage) if usage is not None and usage.input:
                since += turn_size(history, entry) - block_sizes(entry)
                return usage.input + (usage.output or 0) + since // CHARACTERS_PER_TOKEN
            case SystemTurn() | UserTurn() | ModelTurn():
                since += turn_size(history, entry)
    characters = sum(turn_size(history, turn) for turn in history.turns)
    around = OVERHEAD + len(history.summary)
    return around // CHARACTERS_PER_TOKEN + characters // CHARACTERS_PER_TOKEN


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("user", "reply", "counted", "call", "settle", "seal", "compact", "rewind", "ask")),
        st.integers(0, 400),
    ),
    max_size=40,
)


@given(STEPS)
def test_the_running_count_is_that_of_a_walk(steps: list[tuple[str, int]]) -> None:
    """After any conversation, with compactions, rewinds, open calls, and providers that count or do not."""
    history = History("h")
    size = ContextSize(history, lambda: OVERHEAD)
    for step, number in steps:
        _take_step(history, step, number)
        if step != "ask":  # sometimes several things happen between two questions
            assert size.tokens == tokens_by_walking(history), step


def _take_step(history: History, step: str, number: int) -> None:
    text = "x" * number
    match step:
        case "user":
            history.user(text or "go")
        case "reply":
            history.reply("ollama:llama", [Text(text or "so")])
        case "counted":
            history.reply("openai:gpt-5.1", [Text(text or "so")], usage=Usage(input=number + 1, output=7))
        case "call":
            history.reply("openai:gpt-5.1", [ToolCall(f"c{len(history.entries)}", "read", {"path": text})])
        case "settle":
            for interaction in history.open_calls[:1]:
                history.settle(interaction.call.id, Outcome("complete", (Text(text),)))
        case "seal":
            history.seal()
        case "compact" if history.final:
            history.compact(history.turns[number % history.final].key, text or "short")
        case "rewind" if history.turns:
            history.rewind(history.turns[number % len(history.turns)].key)
