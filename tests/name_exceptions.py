"""Names that break a rule of `test_names.py`, each with the reason."""

from __future__ import annotations

BARE_WORDS: dict[str, str] = {}
SHARED_FUNCTIONS: dict[str, str] = {}
