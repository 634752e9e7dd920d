"""Options of a request: checked where they are written, and what the cache markers of a request do."""

from __future__ import annotations

from typing import Any

import pytest

import turnout
from turnout import History, UsageError


def history() -> History:
    made = History()
    made.user("hi")
    return made


def marked_places(**options: Any) -> set[str]:
    body = turnout.render(
        history(),
        "anthropic:claude-sonnet-5",
        system="Be kind.",
        tools=[turnout.ToolSpec("f", "F", {"type": "object", "properties": {}})],
        **options,
    ).json
    found = {"messages"} if "cache_control" in body else set()
    found |= {"system"} if "cache_control" in str(body["system"]) else set()
    return found | ({"tools"} if "cache_control" in str(body["tools"]) else set())


def test_cache_markers_stand_where_they_are_wanted() -> None:
    """All places unless some are named; with the time to live that was asked for."""
    assert marked_places() == {"messages", "system", "tools"}
    assert marked_places(cache_places=("system",)) == {"system"}
    assert marked_places(cache_places=()) == set() == marked_places(cache=False)
    body = turnout.render(history(), "anthropic:claude-sonnet-5", system="S", cache_ttl="1h").json
    assert body["system"][0]["cache_control"]["ttl"] == "1h"
    with pytest.raises(UsageError, match="messages"):
        marked_places(cache_places=("everywhere",))


def test_a_target_without_markers_says_so() -> None:
    """An option without effect is in the report."""
    request = turnout.render(history(), "openai:gpt-5.1", cache_places=("system",))
    assert any("cache_places left out" in change for change in request.changes)
