"""Recorded provider traffic, where it lies beside the project: exchanges by family.

Tests walk a rotating share of it, so that a run is quick and a week of runs sees it all;
with TURNOUT_SOAK set they walk all of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

ROOT = Path(os.environ.get("TURNOUT_CORPUS") or Path(__file__).parents[2] / "shared" / "corpus")
SOAK = bool(os.environ.get("TURNOUT_SOAK"))
ROTATION = int(os.environ.get("TURNOUT_ROTATION") or 0)

needs_corpus = pytest.mark.skipif(
    not (ROOT / "index.jsonl").is_file(), reason=f"no recorded traffic at {ROOT}; set TURNOUT_CORPUS"
)

T = TypeVar("T")


@dataclass(frozen=True)
class Exchange:
    """One request and what came back, with what the provider's SDK made of it."""

    path: Path
    meta: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.meta["id"])

    @property
    def status(self) -> int:
        return int(self.meta["status"])

    @property
    def body(self) -> bytes:
        return next(self.path.glob("response.*")).read_bytes()

    @property
    def oracle(self) -> dict[str, Any]:
        return dict(json.loads((self.path / "oracle.json").read_bytes()))

    @property
    def request(self) -> Any:
        path = self.path / "request.json"
        return json.loads(path.read_bytes()) if path.exists() else None


@cache
def exchanges(*families: str) -> tuple[Exchange, ...]:
    """The recordings of these families (all of them if none is named), in a fixed order."""
    index = ROOT / "index.jsonl"
    if not index.is_file():
        return ()
    digests = (json.loads(line) for line in index.read_text().splitlines())
    return tuple(
        Exchange(path, json.loads((path / "meta.json").read_bytes()))
        for digest in digests
        if not families or digest["family"] in families
        for path in (ROOT / "exchanges" / digest["family"] / digest["id"],)
    )


def replies(*families: str) -> list[Exchange]:
    """The recordings that hold a model's reply."""
    return [exchange for exchange in exchanges(*families) if exchange.status == 200]


def refusals(*families: str) -> list[Exchange]:
    """The recordings in which the server said no."""
    return [exchange for exchange in exchanges(*families) if exchange.status >= 400]


def share(items: Sequence[T], parts: int = 10) -> Sequence[T]:
    """One part of `parts`, or all under TURNOUT_SOAK. TURNOUT_ROTATION says which part."""
    return items if SOAK else items[ROTATION % parts :: parts]
