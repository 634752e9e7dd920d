"""The fuzzer's targets hold on what is lying around: fixtures, and bytes that once broke something."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.__main__ import targets

SEEDS = [path.read_bytes() for path in sorted((Path(__file__).parent / "fixtures").rglob("*.sse"))[:12]]
SEEDS += [
    b"",
    b"\0",
    b"\xff\xfe",
    b"data: {",
    b"[" * 500,
    b'{"a":' * 500,
    b"\xef\xbb\xbfdata: 1\n\n",
    b"<html>",
]
TARGETS = targets()


@pytest.mark.parametrize("name", TARGETS)
def test_targets_take_anything(name: str) -> None:
    """No input makes a target raise."""
    for seed in SEEDS:
        for data in (seed, seed[: len(seed) // 2], seed[::-1]):
            TARGETS[name](data)
