"""What a terminal waits for beside approvals: words in answer to a tool's question."""

from __future__ import annotations

import asyncio


class Inquiry:
    """Words that are waited for; `label` stands before them."""

    def __init__(self, label: str, answer: asyncio.Future[str | None]) -> None:
        self.label = label
        self.answer = answer
