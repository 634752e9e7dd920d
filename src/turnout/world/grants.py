"""Rules that the user granted with "always", kept by folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..tools.policy.rules import Rule
from .places import Places, write_private


class Grants:
    """The rules of one folder, in the user's state folder, where a project cannot write."""

    def __init__(self, places: Places, folder: Path) -> None:
        self._file = places.state / "grants.json"
        self._folder = str(folder)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(self._read_rules().get(self._folder, ()))

    def add(self, rule: Rule) -> None:
        known = self._read_rules()
        held = known.setdefault(self._folder, [])
        if rule not in held:
            held.append(rule)
            write_private(self._file, msgspec.json.encode(known).decode())

    def remove(self, rule: Rule) -> None:
        """Revoke a rule; the next call that it covered needs approval again."""
        known = self._read_rules()
        held = known.get(self._folder, [])
        if rule in held:
            held.remove(rule)
            write_private(self._file, msgspec.json.encode(known).decode())

    def _read_rules(self) -> dict[str, list[Rule]]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, list[Rule]])
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return {}
