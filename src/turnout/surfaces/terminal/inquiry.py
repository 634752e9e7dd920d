"""Questions other than an approval: the user answers in words, or picks a row of a list."""

from __future__ import annotations

import asyncio

from .picker import Picker


class Inquiry:
    """An answer that is awaited; `label` is shown before the input."""

    def __init__(self, label: str, answer: asyncio.Future[str | None], secret: bool = False) -> None:
        self.label = label
        self.secret = secret  # what is typed is not shown
        self.answer = answer


class PickInquiry:
    """A list that is open, and the choice that is awaited."""

    def __init__(self, picker: Picker, answer: asyncio.Future[int | None]) -> None:
        self.picker = picker
        self.answer = answer

    def give(self, chosen: int | None) -> None:
        if not self.answer.done():
            self.answer.set_result(chosen)
