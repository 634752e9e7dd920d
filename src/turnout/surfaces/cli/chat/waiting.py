"""What a terminal waits for: an answer to a question, or words."""

from __future__ import annotations

import asyncio

from ....tools.approval import ApprovalRequest, Decision
from .asking import Choice
from .pieces import Question


class Asked:
    """A question that waits: for a key, or for the words that go with one."""

    def __init__(
        self, request: ApprovalRequest, question: Question, answer: asyncio.Future[Decision]
    ) -> None:
        self.request = request
        self.question = question
        self.answer = answer
        self.choice: Choice | None = None  # set while its words are typed
        self.heard = False


class Inquiry:
    """Words that are waited for; `label` stands before them."""

    def __init__(self, label: str, answer: asyncio.Future[str | None]) -> None:
        self.label = label
        self.answer = answer
