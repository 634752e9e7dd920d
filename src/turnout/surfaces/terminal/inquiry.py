"""A question other than an approval: the user answers it in words."""

from __future__ import annotations

import asyncio


class Inquiry:
    """An answer that is awaited; `label` is shown before the input."""

    def __init__(self, label: str, answer: asyncio.Future[str | None]) -> None:
        self.label = label
        self.answer = answer
