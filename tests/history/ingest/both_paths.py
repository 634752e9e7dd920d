"""Every list that the straight path reads, read by the careful path too: both must give the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from turnout import render
from turnout.history import ingest as door
from turnout.history.codec import dump_history
from turnout.history.log import History

TARGETS = (
    "openai:gpt-5.1",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-3-pro",
    "mistral:mistral-large-latest",
)


def story_of(history: History) -> tuple[Any, ...]:
    """All that a history holds. The dump tells 1 from True, which an equation does not."""
    return (
        history.key,
        dump_history(history),
        list(history.entries),
        history.diagnostics,
        history.system,
        history.tools,
        [item.call.id for item in history.open_calls],
        history.open_turn,
        history.final,
    )


def bodies_of(history: History, *targets: str) -> list[bytes]:
    return [render(history, target).body for target in targets or TARGETS]


def read_carefully(body: Any, form: str, origin: Any = None, key: str = "ingest") -> History:
    """The history that the careful path gives, whatever the list is like."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "_read_straight", lambda *_: None)
        return door.ingest(body, form, origin, key=key)


@pytest.fixture(scope="session", autouse=True)
def both_paths_agree() -> Iterator[None]:
    """Whatever a test of this folder reads: both paths give the same, or the straight one steps aside."""
    straight = door._read_straight

    def both(body: Any, form: Any, head: Any, key: str, issued: Any) -> History | None:
        if (history := straight(body, form, head, key, issued)) is not None:
            assert story_of(history) == story_of(door._read_carefully(body, form, head, key, {}, issued))
        return history

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "_read_straight", both)
        yield
