"""Every refusal hangs on one thing: there is an edit of one place after which the body passes.

So no rule refuses more than its fault: a rule that refused everything would have no such neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import islice, product
from typing import Any

import pytest
from tests.wire.check.broken import BROKEN

from turnout import check

Path = tuple[Any, ...]
WORDS = ("abcdefghi", "{}", "user", "assistant", "text", "object", "STRING", "auto", "gpt-4.1", " ")
OTHERS: tuple[Any, ...] = (*WORDS, {}, [], [{"type": "text", "text": "x"}], 1, True, False)


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place in a body, the inner ones first: the smaller the edit, the closer the neighbour."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(inside)[::-1]:
        yield from places(inner, (*path, key))
        yield (*path, key)


def holder(body: Any, path: Path) -> Any:
    for step in path[:-1]:
        body = body[step]
    return body


def neighbours(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The bodies one edit away: a place left out, moved or filled otherwise, a word replaced everywhere."""
    everywhere = list(places(body))
    for path in everywhere:
        without = deepcopy(body)
        del holder(without, path)[path[-1]]
        yield without
    for path in everywhere:
        if isinstance(at := path[-1], int) and at:
            moved = deepcopy(body)
            holder(moved, path).insert(at - 1, holder(moved, path).pop(at))
            yield moved
    for path, other in product(everywhere, OTHERS):
        changed = deepcopy(body)
        holder(changed, path)[path[-1]] = other
        yield changed
        if isinstance(value := holder(body, path)[path[-1]], str) and isinstance(other, str):
            yield replaced(body, value, other)


def replaced(value: Any, old: str, new: str) -> Any:
    """An id stands on a call and on its result: one edit changes both."""
    if isinstance(value, dict):
        return {key: replaced(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, old, new) for inner in value]
    return new if value == old else value


RULES = sorted({broken.rule for broken in BROKEN} - {"BODY"})  # without a conversation nothing is to edit


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_broken_by_one_body_and_not_by_its_neighbour(rule: str) -> None:
    """The smallest bodies first; a fault that stands in two places has its neighbour two edits away."""
    bodies = sorted((broken for broken in BROKEN if broken.rule == rule), key=lambda one: len(str(one.body)))

    assert any(
        check(broken.api, near) == [] for broken in bodies for near in islice(neighbours(broken.body), 2000)
    )
