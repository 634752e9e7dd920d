"""How a host of generateContent differs from the Gemini API itself."""

from __future__ import annotations

from typing import ClassVar

from ..dialect import Dialect


class GeminiDialect(Dialect, frozen=True, kw_only=True):
    """How a host of generateContent differs from the Gemini API itself."""

    api: ClassVar[str] = "gemini"

    id_format: str = "gemini"
    sends_ids: bool = True
    links: str = r"gs://|https?://(www\.|m\.)?(youtube\.com|youtu\.be)/"  # what Google opens by itself
    mixes_hosted: bool = True  # Gemini 3 takes functions beside Google's own tools

    def mixes_tools(self, *, signs: bool) -> bool:
        """Models before Gemini 3 refuse functions beside Google's own tools."""
        return self.mixes_hosted and signs
