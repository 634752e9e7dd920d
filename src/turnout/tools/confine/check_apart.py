"""Checking arguments in a process of its own, for those whose check might take long.

The validator holds the interpreter while it works, so a thread would not help. A process can be
ended: whoever waits for it is told so, and the loop goes on all the time.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from ... import plain
from ..declare.arguments import Checked, not_checked
from ..declare.problems import Problem, at, shown, written
from ..declare.tool import Tool
from .process import start_python
from .threads import ThreadPort

SECONDS = 2.0
PROGRAM = str(Path(__file__).with_name("checking_program.py"))


async def checked_apart(
    tool: Tool, arguments: dict[str, Any], threads: ThreadPort, seconds: float = SECONDS
) -> Checked:
    """Whether arguments fit, and the first thing that does not; no repairs are tried."""
    said = await _answer(tool, arguments, threads, seconds)
    if said is None:
        return not_checked(arguments, f"arguments that can be checked within {seconds:g} s")
    if said["valid"]:
        return Checked(arguments)
    problem = Problem(written(said["path"]), said["said"], shown(at(arguments, said["path"])))
    return Checked(arguments, (), "invalid_arguments", (problem,), is_first=True)


async def _answer(
    tool: Tool, arguments: dict[str, Any], threads: ThreadPort, seconds: float
) -> dict[str, Any] | None:
    asked = {"schema": tool.signature.schema, "value": arguments, "backtracks": tool.cost.backtracks}
    process = start_python(PROGRAM)
    try:
        talking = threads.start(lambda: process.communicate(plain.dumps(asked).encode()))
        await asyncio.wait({talking}, timeout=seconds)
        if not talking.done():
            return None
        out, _ = talking.result()
        return json.loads(out) if process.returncode == 0 else None
    finally:
        if process.returncode is None:
            process.kill()  # the thread, which still talks with it, sees it end
