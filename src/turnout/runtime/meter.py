"""What was used over time: one line for each session that was worked with, in a file of the user's.

The file holds numbers and names of models, and nothing that was said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from ..model import ModelTurn
from .cost import cost_of
from .places import Places, private_folder, write_private
from .telemetry import Telemetry

LARGEST = 4 * 1024 * 1024
"""Bytes after which the older half of the file is let go."""


class Use(Struct, frozen=True, omit_defaults=True):
    """What one model was used for; `counts` are the tool counters."""

    replies: int = 0
    input: int = 0
    output: int = 0
    cost: float | None = None
    counts: dict[str, int] = field(default_factory=dict)


class Reading(Struct, frozen=True):
    """One session's use, by model; `at` is seconds since 1970."""

    at: float
    session: str
    models: dict[str, Use]


class Meter:
    """The user's readings. Writing one is a single append, so several processes can share it."""

    def __init__(self, places: Places) -> None:
        self._file = places.state / "meter.jsonl"

    def add(self, reading: Reading) -> None:
        if not reading.models:
            return
        private_folder(self._file.parent)
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, msgspec.json.encode(reading) + b"\n")
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if size > LARGEST:
            self._forget_the_older_half()

    def readings(self, since: float = 0.0) -> Iterator[Reading]:
        """What was read since then, oldest first; lines that make no sense are passed over."""
        try:
            lines = self._file.read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            try:
                reading = msgspec.json.decode(line, type=Reading)
            except (msgspec.DecodeError, msgspec.ValidationError):
                continue
            if reading.at >= since:
                yield reading

    def _forget_the_older_half(self) -> None:
        lines = self._file.read_bytes().splitlines(keepends=True)
        write_private(self._file, b"".join(lines[len(lines) // 2 :]).decode(errors="replace"))


def reading(at: float, session: str, turns: Sequence[ModelTurn], telemetry: Telemetry) -> Reading:
    """The use that a session's replies and counters tell of."""
    by_model: dict[str, list[ModelTurn]] = {}
    for turn in turns:
        by_model.setdefault(f"{turn.origin.provider}:{turn.origin.model}", []).append(turn)
    counts: dict[str, dict[str, int]] = {}
    for (counter, provider, model), count in telemetry.counts.items():
        counts.setdefault(f"{provider}:{model}", {})[counter] = count
    names = dict.fromkeys([*by_model, *counts])
    return Reading(at, session, {name: _use(by_model.get(name, []), counts.get(name, {})) for name in names})


def _use(turns: Sequence[ModelTurn], counts: dict[str, int]) -> Use:
    used = [turn.usage for turn in turns if turn.usage is not None]

    def total(name: str) -> Any:
        return sum(getattr(usage, name) or 0 for usage in used)

    return Use(len(turns), total("input"), total("output"), cost_of(turns), counts)
