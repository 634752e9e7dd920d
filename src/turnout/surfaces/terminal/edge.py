"""The port through which a conversation is shown: a terminal, or plain lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...tools.policy.approval import ApprovalRequest, Decision
from .picker import PickRow
from .pieces import ApprovalQuestion, Piece


class Edge(Protocol):
    """Shows finished pieces once, redraws the live part, and asks the user."""

    @property
    def width(self) -> int: ...

    @property
    def has_keys(self) -> bool:
        """Whether single keys reach us; without them only whole lines do."""

    def show(self, *pieces: Piece) -> None:
        """Show finished pieces, in this order."""

    def refresh(self) -> None:
        """Redraw the live part: it has changed."""

    async def ask(self, request: ApprovalRequest, question: ApprovalQuestion) -> Decision:
        """The user's answer to an approval question; a cancelled question disappears."""

    async def inquire(self, label: str, *, secret: bool = False) -> str | None:
        """A line that the user types as an answer; None if they decline. A secret is not shown."""

    async def pick(self, title: str, rows: Sequence[PickRow], at: int = 0) -> int | None:
        """The position of the row that the user picks; None if they pick none."""

    def copy_text(self, text: str) -> bool:
        """Copy a text through the terminal; False if that is not possible here."""

    def put_back(self, text: str) -> None:
        """Put a text back into the input line."""

    def set_theme(self, name: str) -> None:
        """Switch to another theme."""

    def leave(self) -> None:
        """End the conversation."""
