"""Two thousand random conversations: after every step, for every target, the transcript is sound.

The history checker finds nothing, the transcript checker finds nothing, rendered turn by turn
equals rendered as a whole from a replayed log, what was sealed is unchanged, ids are injective
and of the target's form, and a fork leaves its parent alone.
"""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any

import pytest
from tests.laws.generate import STEPS, conversation
from tests.laws.laws import Witness
from tests.laws.share import SHARDS, seeds, tell, zeros

AT_THE_DOOR = (
    "orphaned_result",
    "early_result",
    "misplaced_result",
    "spaced_id",
    "unnamed_result",
    "duplicate_outcome",
    "repeated_call",
    "reused_id",
    "empty_id",
    "long_id",
    "foreign_canonical_id",
    "misplaced_call",
    "mixed_shapes",
    "missing_result",
    "invalid_arguments",
    "unplain_value",
    "name_mismatch",
    "unknown_call",
    "unknown_role",
    "unknown_block",
    "unknown_entry",
    "merged_turns",
    "shared_turn_id",
    "empty_message",
    "incomplete_result",
)
AT_THE_BOUNDARY = ("late_outcome", "repeated_outcome", "replaced_outcome", "sealed_open_call")
IN_A_TRANSCRIPT = (
    "synthetic_result",
    "thinking_omitted",
    "thinking_as_text",
    "opaque_as_text",
    "media_replaced",
    "media_corrected",
    "code_as_text",
    "empty_turn",
    "shortened_result",
)


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_transcript_of_every_conversation_is_sound(shard: int, record_property: Any) -> None:
    """Whatever happens to a history, in whatever order, every target can be shown it."""
    steps: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    lengths: list[int] = []
    for seed in seeds(shard):
        witness = Witness()
        world = conversation(seed, witness)
        witness.tally()
        steps += world.steps
        codes += world.codes + witness.codes
        lengths.append(sum(world.steps.values()))
    tell(record_property, "steps", steps)
    tell(record_property, "diagnostic codes", codes)
    assert median(lengths) >= 20
    assert zeros(STEPS, steps) == []
    assert zeros((*AT_THE_DOOR, *AT_THE_BOUNDARY, *IN_A_TRANSCRIPT), codes) == []
