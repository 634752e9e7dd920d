"""The gateway's file: private, bounded, and no reason to fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnout.errors import StoreError
from turnout.surfaces.gateway import memory as memories
from turnout.surfaces.gateway.memory import GatewayMemory


def record(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"r{number}", "client": "ci", "time": float(number), "cost": 0.5, "tokens": 10, **more}


def test_states_come_back_by_conversation(tmp_path: Path) -> None:
    """Also in another process, and only those of this conversation."""
    first = GatewayMemory(tmp_path / "m.db")
    first.remember("a", "one", b"1")
    first.remember("a", "one", b"2")
    first.remember("b", "two", b"3")
    assert GatewayMemory(tmp_path / "m.db").recall("a") == {"one": b"2"}
    assert (tmp_path / "m.db").stat().st_mode & 0o777 == 0o600


def test_requests_are_kept_in_batches_and_read_at_once(tmp_path: Path) -> None:
    """One that is asked for is written first."""
    memory = GatewayMemory(tmp_path / "m.db")
    for number in range(5):
        memory.add_request(record(number), b'{"sent": "x"}' if number == 3 else None)
    assert memory.request("r3") == (record(3), {"sent": "x"}) and memory.request("no") is None
    assert [row["id"] for row in memory.requests(2)] == ["r4", "r3"]
    assert memory.usage_of("ci", 2.0) == (3, 30, 1.5)


def test_only_the_last_requests_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first."""
    monkeypatch.setattr(memories, "MAX_REQUESTS", 10)
    memory = GatewayMemory(tmp_path / "m.db")
    for number in range(30):
        memory.add_request(record(number))
    memory.flush()
    memory.prune()
    assert len(memory.requests(100)) == 10 and memory.request("r0") is None


def test_the_file_stays_near_its_limit(tmp_path: Path) -> None:
    """Old states are deleted, and their space is used again."""
    memory = GatewayMemory(tmp_path / "m.db", limit=2_000_000)
    for number in range(3000):
        memory.remember(f"c{number}", "x", bytes(4000))
    memory.close()
    assert (tmp_path / "m.db").stat().st_size < 8_000_000


def test_responses_are_found_by_their_ids(tmp_path: Path) -> None:
    """For clients that continue from a response."""
    memory = GatewayMemory(tmp_path / "m.db")
    memory.keep_response("resp_1", b"[]")
    assert memory.response("resp_1") == b"[]" and memory.response("resp_2") is None


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    """It is not written over."""
    path = tmp_path / "m.db"
    path.write_text("these are my notes, not a database at all" * 100)
    with pytest.raises(StoreError, match="move the file away"):
        GatewayMemory(path)
