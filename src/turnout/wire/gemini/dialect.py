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
