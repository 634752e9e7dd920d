"""The part of the demo that does not survive: run in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from .stage import Stage, open_session
from .story import STORY


async def main(folder: str, prompt: str) -> None:
    step = next(step for step in STORY if step.prompt == prompt)
    stage = Stage(Path(folder), lambda step, event: None)
    async with open_session(stage, step) as session:
        async for _ in session.run(prompt):
            pass


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
