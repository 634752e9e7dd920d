"""What a conversation asks of whatever shows it: a terminal, or plain lines."""

from __future__ import annotations

from typing import Protocol

from ...tools.policy.approval import ApprovalRequest, Decision
from .pieces import ApprovalQuestion, Piece


class Edge(Protocol):
    """Shows pieces once, shows anew what moves, and asks."""

    @property
    def width(self) -> int: ...

    def show(self, *pieces: Piece) -> None:
        """Show finished pieces, in this order."""

    def refresh(self) -> None:
        """What moves has changed."""

    async def ask(self, request: ApprovalRequest, question: ApprovalQuestion) -> Decision:
        """The user's answer to a question; a cancelled question goes away."""

    async def inquire(self, label: str) -> str | None:
        """A line that the user types in answer to what was shown; None when they do not want to."""

    def put_back(self, text: str) -> None:
        """Give the user a text to go on with."""

    def set_theme(self, name: str) -> None:
        """Use another theme from now on."""

    def leave(self) -> None:
        """The conversation is over."""
