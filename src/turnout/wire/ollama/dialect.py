"""How a server of Ollama's own API differs from the plain form."""

from __future__ import annotations

from typing import ClassVar

from ..dialect import Dialect


class OllamaDialect(Dialect, frozen=True, kw_only=True):
    """Ollama's own chat. Images come as bytes, never as links, and nothing forces a call."""

    api: ClassVar[str] = "ollama"

    media: tuple[str, ...] | None = ("image/",)
    think_tags: bool = True  # for the decoder: templates that know no thinking leave <think> in the text

    @property
    def forces_tools(self) -> bool:
        return False
