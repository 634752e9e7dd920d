"""The adapter of the engine: small, the only one that knows it, and of use without a server."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest

from turnout import workers
from turnout.errors import TurnoutError
from turnout.store import Store

SOURCE = Path(__file__).parents[2] / "src" / "turnout"
LARGEST = 200


def test_the_adapter_is_small_and_alone() -> None:
    """At most 200 lines, and no other file imports the engine."""
    adapter = SOURCE / "workers" / "engine.py"
    assert len(adapter.read_text().splitlines()) <= LARGEST
    for path in SOURCE.rglob("*.py"):
        names = {
            name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (
                [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module]
            )
        }
        assert path == adapter or not any((name or "").startswith("dbos") for name in names), path


def test_a_file_is_enough_to_try_it_out(tmp_path: Path) -> None:
    """Runs are queued and listed on SQLite too, beside the file of the sessions."""
    pytest.importorskip("dbos")
    with Store(tmp_path / "s.db", heartbeat=False) as store:
        run = asyncio.run(workers.submit(store, "go", session="s", key="k"))
        (line,) = asyncio.run(workers.runs(store))
        assert (line.id, line.session, line.status, run.id) == ("s:k", "s", "queued", "s:k")
        assert asyncio.run(workers.cancel(store, "s")) == ["s:k"]
        with pytest.raises(TurnoutError, match="the engine refused"):
            asyncio.run(workers.submit(store, "go", every="never"))
