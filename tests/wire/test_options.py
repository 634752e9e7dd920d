"""Options of a request: checked where they are written, and what the cache markers of a request do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import turnout
from turnout import History, UsageError
from turnout.world.config import load_config

TOOLS = [turnout.ToolSpec("f", "F", {"type": "object", "properties": {}})]


def history() -> History:
    made = History()
    made.user("hi")
    return made


def marked_places(**options: Any) -> set[str]:
    body = turnout.render(
        history(),
        "anthropic:claude-sonnet-5",
        system="Be kind.",
        tools=TOOLS,
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


CACHED_ON_BEDROCK = ("bedrock:us.anthropic.claude-sonnet-5", "bedrock:us.amazon.nova-2-lite-v1:0")


def points_of_converse(model: str, **options: Any) -> tuple[set[str], list[str]]:
    made = turnout.render(history(), model, system="Be brief.", tools=TOOLS, **options)
    body = made.json
    places = {
        "tools": body.get("toolConfig", {}).get("tools", []),
        "system": body.get("system", []),
        "messages": body["messages"][-1]["content"],
    }
    marked = {name for name, items in places.items() if any("cachePoint" in item for item in items)}
    return marked, [change for change in made.changes if "cache" in change]


def test_cache_points_of_converse_stand_where_they_are_asked_for() -> None:
    """All places that the model has, only the named ones, or none; a place without a cache is named."""
    claude, nova = CACHED_ON_BEDROCK
    assert points_of_converse(claude) == ({"tools", "system", "messages"}, [])
    assert points_of_converse(claude, cache_places=("system",)) == ({"system"}, [])
    assert points_of_converse(claude, cache_places=()) == (set(), [])
    assert points_of_converse(claude, cache=False) == (set(), [])
    marked, changes = points_of_converse(nova, cache_places=("tools", "messages"))
    assert marked == {"messages"} and len(changes) == 1 and "tools" in changes[0]


def test_a_cache_policy_of_a_file_counts_for_its_target(tmp_path: Path) -> None:
    """How long and where: options of a target or of a model in the configuration."""
    (tmp_path / ".config" / "turnout").mkdir(parents=True)
    (tmp_path / ".config" / "turnout" / "config.toml").write_text(
        '[models."anthropic:claude-sonnet-5"]\noptions = { cache_ttl = "1h", cache_places = ["system"] }\n'
    )
    place = load_config({"HOME": str(tmp_path)}, tmp_path).target("anthropic:claude-sonnet-5")
    body = turnout.render(history(), place, system="Be brief.", tools=TOOLS).json

    assert body["system"][-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert not any("cache_control" in tool for tool in body["tools"]) and "cache_control" not in body
