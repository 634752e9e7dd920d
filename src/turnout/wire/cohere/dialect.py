"""How the models of Cohere's Chat differ."""

from __future__ import annotations

from typing import ClassVar

from ..dialect import Dialect


class CohereDialect(Dialect, frozen=True, kw_only=True):
    """Cohere's Chat, version 2."""

    api: ClassVar[str] = "cohere"

    id_format: str = "cohere"
    media: tuple[str, ...] | None = ("image/",)
    takes_choice: bool = True  # the first models refuse `tool_choice`

    @property
    def forces_tools(self) -> bool:
        return self.takes_choice
