"""The transport that reads small pieces in batches."""

from __future__ import annotations

import asyncio

from turnout.surfaces.terminal.pacing import PacedAnswer


def test_small_pieces_of_an_answer_are_gathered() -> None:
    """Hundreds of packets a second become a few reads; nothing is lost or reordered."""
    pieces = [b"a", b"b" * 5_000, b"c"]

    class Answer:
        status, headers = 200, None

        @property
        def chunks(self) -> object:
            return self._chunks()

        async def _chunks(self):  # type: ignore[no-untyped-def]
            for piece in pieces:
                await asyncio.sleep(0)  # it had to be waited for
                yield piece

    async def read() -> tuple[list[bytes], float]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        found = [chunk async for chunk in PacedAnswer(Answer()).chunks]  # type: ignore[arg-type]
        return found, loop.time() - began

    found, took = asyncio.run(read())
    assert found == pieces and took >= 0.04  # a pause after each small one, none after the large one
