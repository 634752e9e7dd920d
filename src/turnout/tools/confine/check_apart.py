"""Checks arguments in a separate process, for those whose check might take long.

The validator holds the interpreter lock while it works, so a thread would not help. A process can
be killed, and the event loop runs meanwhile.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from ... import plain
from ..declare.arguments import Checked, not_checked
from ..declare.problems import ArgumentProblem, path_text, value_at, value_in_words
from ..declare.tool import Tool
from .process import start_python
from .threads import ThreadPort

SECONDS = 2.0
PROGRAM = str(Path(__file__).with_name("checking_program.py"))


async def check_in_process(
    tool: Tool,
    arguments: dict[str, Any],
    threads: ThreadPort,
    seconds: float = SECONDS,
    not_needed: asyncio.Future[None] | None = None,
) -> Checked:
    """Whether arguments fit, and the first thing that does not; no repairs are tried.

    `not_needed` ends the check early, without an answer.
    """
    answer = await _ask_process(tool, arguments, threads, seconds, not_needed)
    if answer is None:
        return not_checked(arguments, f"arguments that can be checked within {seconds:g} s")
    if answer["valid"]:
        return Checked(arguments)
    problem = ArgumentProblem(
        path_text(answer["path"]), answer["kind"], value_in_words(value_at(arguments, answer["path"]))
    )
    return Checked(arguments, (), "invalid_arguments", (problem,), is_first=True)


async def _ask_process(
    tool: Tool,
    arguments: dict[str, Any],
    threads: ThreadPort,
    seconds: float,
    not_needed: asyncio.Future[None] | None,
) -> dict[str, Any] | None:
    request = {"schema": tool.signature.schema, "value": arguments, "backtracks": tool.cost.backtracks}
    process = start_python(PROGRAM)
    try:
        talking = threads.start(lambda: process.communicate(plain.dumps(request).encode()))
        waited = {talking} if not_needed is None else {talking, not_needed}
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not talking.done():
            return None
        out, _ = talking.result()
        return json.loads(out) if process.returncode == 0 else None
    finally:
        if process.returncode is None:
            process.kill()  # the thread, which still talks with it, sees it end
