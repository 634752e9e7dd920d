"""Random conversations as requests: every provider takes every one of them, and bytes once sent stay."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.laws.generate import conversation
from tests.laws.share import SHARDS, SOAK, seeds, tell
from tests.laws.targets import TARGETS
from tests.laws.wire_laws import WireWitness

from turnout.targets.request import render

SHARE = 2000 if SOAK else 1000


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_provider_takes_every_conversation(shard: int, record_property: Any) -> None:
    """After every step the request is valid, deterministic, and begins with what was sent before."""
    requests: Counter[str] = Counter()
    for seed in seeds(shard, SHARE):
        witness = WireWitness(seed)
        world = conversation(seed, witness)
        witness.everywhere(world.history)
        requests["sent and judged"] += witness.requests
        requests["conversations"] += 1
    tell(record_property, "requests", requests)
    assert requests["sent and judged"] > requests["conversations"] > 0  # each of them is judged as it is made


def digest(count: int = 12) -> str:
    """One hash over what some conversations become on every provider."""
    told = hashlib.sha256()
    for seed in range(count):
        history = conversation(seed).history
        for place in TARGETS:
            request = render(history, place)
            told.update(request.body)
            told.update(repr(request.report).encode("utf-8", "backslashreplace"))
    return told.hexdigest()


def test_two_processes_with_different_hash_seeds_send_the_same_bytes() -> None:
    """Neither requests nor reports depend on the order in which a process keeps its sets."""
    root = Path(__file__).parent.parent.parent
    code = "from tests.laws.test_wire_laws import digest; print(digest())"
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
