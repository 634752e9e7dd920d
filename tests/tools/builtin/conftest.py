"""A folder on disk, a context that works in it, and a way to call a tool and read its outcome."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from turnout.model import Outcome
from turnout.tools.confine.output import SavedOutput
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.events import ToolProgress
from turnout.tools.declare.result import outcome_of
from turnout.tools.declare.tool import Tool

Call = Callable[..., Outcome]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def events() -> list[ToolProgress]:
    return []


@pytest.fixture
def ctx(root: Path, tmp_path: Path, events: list[ToolProgress]) -> Iterator[ToolContext]:
    with WorkspaceFiles(root, saved=SavedOutput(tmp_path / "saved")) as workspace:
        yield ToolContext("call", workspace=workspace, report=events.append)


@pytest.fixture
def call(ctx: ToolContext) -> Call:
    """Call a tool as the scheduler would, and get its outcome."""

    def run(tool: Tool, **arguments: Any) -> Outcome:
        value = tool.invoke(ctx, arguments)
        return outcome_of(asyncio.run(value) if inspect.iscoroutine(value) else value).outcome

    return run
