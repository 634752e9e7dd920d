"""What a render did, as a value: for whoever must explain a refusal.

Reports are made on demand from the transcript, so a render that nobody asks about costs
nothing for them.
"""

from __future__ import annotations

from msgspec import Struct

from ..diagnostic import Diagnostic
from ..model import Origin


class Emitted(Struct, frozen=True):
    """One id that went out: ours, and the target's."""

    call_id: str
    projected: str


class Synthetic(Struct, frozen=True):
    """A result that was made because the real one never came."""

    call_id: str
    status: str
    reason: str


class Report(Struct, frozen=True):
    """The structured report of one render."""

    target: Origin
    format: str
    seen: tuple[str, ...]  # canonical ids of the calls that this transcript covers
    calls: tuple[Emitted, ...]
    results: tuple[Emitted, ...]
    deduplicated: tuple[Diagnostic, ...]
    synthetic: tuple[Synthetic, ...]
    diagnostics: tuple[Diagnostic, ...]
    changes: tuple[str, ...] = ()  # what the wire layer had to add, drop or weaken, rule by rule


DEDUPE_CODES = frozenset(
    {
        "duplicate_outcome",
        "repeated_outcome",
        "replaced_outcome",
        "late_outcome",
        "repeated_call",
        "reused_id",
    }
)
