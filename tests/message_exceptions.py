"""Messages without a next step, each with the reason."""

from __future__ import annotations

NO_NEXT_STEP: dict[str, str] = {}
