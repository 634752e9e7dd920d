"""What it may cost to check arguments against a schema: an upper bound, found out beforehand.

A schema of a kilobyte can refer to its own parts so that a check takes 2^40 steps, and a check
cannot be stopped: the validator holds the interpreter while it works. So a schema is measured
before it is accepted, and arguments are measured against it before they are checked.

One step is one part of a schema that looks at one value, about 30 ns. Parts that look at the
same value (`allOf`, `$ref`) add up; parts that look at what is inside it count a level deeper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ..errors import UsageError
from ..plain import MAX_DEPTH, is_deeper

PER_VALUE = 100_000
"""Steps that a schema may take for one value, whatever the value is."""

COSTLY = 1_000_000
"""Steps from which on arguments are checked in a process of their own."""

DETAILED = 10_000
"""Steps up to which every problem is looked for. To report a step takes 5 µs; else the first will do."""

SMALL = 2_000
PARTS = 10_000
PATTERN = 2_000
STATES = 10_000
"""States that a pattern may have: each may be visited once for each character."""

PER_STATE = 4
UNEVALUATED = 3  # `unevaluatedProperties` asks the parts beside it again; 2.7 was measured
UNIQUE = 20
PER_NUMBER = 90  # a number in an `enum` is compared digit by digit: 2.6 µs were measured
FEW_NUMBERS = 10
NUMBERS = 10_000
"""Numbers that the lists of a schema may hold together."""

BACKTRACKING = 2_000  # steps for each state of a pattern with lookaround or back references, which is stopped
LEVELS = 16
"""Levels of values down to which steps are counted; a schema that reaches further refers to itself."""

COUNTED = 20_000
"""Parts that are looked at for it: of a large schema fewer levels are counted."""

SEVERAL_HERE = ("allOf", "anyOf", "oneOf")
ONE_HERE = ("not", "if", "then", "else")
NAMED_HERE = ("dependentSchemas", "dependencies")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
ONE_INSIDE = (
    *("items", "additionalItems", "contains", "unevaluatedItems"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames"),
)

_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]?|\{(\d{1,9})(?:,(\d{0,9}))?\}|.", re.DOTALL)


class SchemaCost:
    """The cost of one schema, level by level. Raises UsageError for a schema that cannot be afforded."""

    def __init__(self, schema: Any) -> None:
        if is_deeper(schema, MAX_DEPTH):
            raise UsageError(f"it is nested deeper than {MAX_DEPTH} levels")
        self._schema = schema
        self._nodes = list(_objects_in(schema))
        if len(self._nodes) > PARTS:
            raise UsageError(f"it has {len(self._nodes):,} parts, and {PARTS:,} are the limit")
        self._roots = [node for node in self._nodes if node is schema or "$id" in node or "id" in node]
        self.levels = max(1, min(LEVELS, COUNTED // max(1, len(self._nodes))))
        self._parts: dict[int, tuple[list[Any], list[Any]]] = {}
        self._known: dict[tuple[int, int], tuple[float, float]] = {}
        self._levels: list[tuple[float, float]] = []
        self._extra = UNIQUE if any("uniqueItems" in node for node in self._nodes) else 0
        self.branches = any(map(_has_deep_alternatives, self._nodes))
        self.backtracks = False
        self._check()

    def _check(self) -> None:
        for node in self._nodes:
            for pattern in _patterns_of(node):
                _check_pattern(pattern)
        self._count_numbers()
        try:
            most = max((self._steps(node, 0)[0] for node in self._nodes), default=0)
        except RecursionError:
            raise UsageError("its references lead too far") from None
        if most > PER_VALUE:
            raise UsageError(
                f"to check one value against it takes {most:,.0f} steps, and {PER_VALUE:,} are the limit: "
                "its parts refer to each other again and again"
            )

    def _count_numbers(self) -> None:
        listed = (each for node in self._nodes for each in _listed(node.get("enum")))
        numbers = sum(isinstance(each, int | float) for each in listed)
        if numbers > NUMBERS:
            raise UsageError(f"it lists {numbers:,} numbers, and {NUMBERS:,} are the limit")
        self._extra += PER_NUMBER * numbers if numbers > FEW_NUMBERS else 0

    def bound(self, values: int, depth: int, characters: int) -> float:
        """Steps that so many values may take, nested so deep, written with so many characters."""
        steps, states = self._most_down_to(min(depth, self.levels))
        if depth > self.levels and self.is_deep:
            return float("inf")
        if self.backtracks:
            return values * (steps + self._extra + states * BACKTRACKING)
        return values * (steps + self._extra) + characters * states * PER_STATE

    @cached_property
    def is_deep(self) -> bool:
        """Whether it reaches so far down that how deep a value is nested matters."""
        return bool(self._levels_at(self.levels)[0])

    @cached_property
    def is_light(self) -> bool:
        """Whether a call of few characters is cheap to check, whatever is in it."""
        return self.bound(SMALL // 2, LEVELS + 1, SMALL) <= (DETAILED if self.branches else COSTLY)

    def _most_down_to(self, depth: int) -> tuple[float, float]:
        while len(self._levels) <= depth:
            steps, states = self._levels_at(len(self._levels))
            before = self._levels[-1] if self._levels else (0.0, 0.0)
            self._levels.append((max(before[0], steps), max(before[1], states)))
        return self._levels[depth]

    def _levels_at(self, depth: int) -> tuple[float, float]:
        try:
            return self._steps(self._schema, depth)
        except RecursionError:
            return float("inf"), float("inf")

    def _steps(self, node: Any, depth: int) -> tuple[float, float]:
        """Steps, and states of patterns, for a value so many levels below the one that this part sees."""
        if not isinstance(node, dict):
            return (1.0, 0.0) if depth == 0 else (0.0, 0.0)
        key = (id(node), depth)
        if key in self._known:
            return self._known[key]
        self._known[key] = (0.0, 0.0)  # whoever comes back here refers to itself, which the validator notices
        steps, states = _own_cost(node) if depth == 0 else (0.0, 0.0)
        for part in self._parts_of(node)[0]:
            more = self._steps(part, depth)
            steps, states = steps + more[0], states + more[1]
        if depth:
            more = self._steps_inside(node, depth - 1)
            steps, states = steps + more[0], states + more[1]
        factor = UNEVALUATED if "unevaluatedProperties" in node or "unevaluatedItems" in node else 1
        self._known[key] = (steps * factor, states * factor)
        return self._known[key]

    def _steps_inside(self, node: dict[str, Any], depth: int) -> tuple[float, float]:
        """The same for what is inside the value. Of the properties with a name only one sees a value."""
        steps, states = 0.0, 0.0
        for part in _valued(node.get("properties")):
            more = self._steps(part, depth)
            steps, states = max(steps, more[0]), max(states, more[1])
        for part in self._parts_of(node)[1]:
            more = self._steps(part, depth)
            steps, states = steps + more[0], states + more[1]
        return steps, states

    def _parts_of(self, node: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """The parts that look at the same value, and those that look at what is inside it."""
        if id(node) not in self._parts:
            self._parts[id(node)] = (list(self._parts_here(node)), list(_parts_inside(node)))
        return self._parts[id(node)]

    def _parts_here(self, node: dict[str, Any]) -> Iterator[Any]:
        """The parts that look at the same value."""
        for word in SEVERAL_HERE:
            yield from _listed(node.get(word))
        for word in ONE_HERE:
            if word in node:
                yield node[word]
        for word in NAMED_HERE:
            yield from _valued(node.get(word))
        for word in REFERENCES:
            if isinstance(reference := node.get(word), str):
                yield from self._targets(reference)

    def _targets(self, reference: str) -> Iterator[Any]:
        """Whatever a reference may mean. An `$id` somewhere can change what `#` is, so all are tried."""
        if not reference.startswith("#"):
            return
        if reference[1:2] not in ("", "/"):
            anchor = reference[1:]
            words = ("$anchor", "$dynamicAnchor", "$id", "id")
            yield from (
                node for node in self._nodes if any(node.get(w) in (anchor, reference) for w in words)
            )
            return
        for root in self._roots:
            if (found := _at(root, reference[1:])) is not None:
                yield found


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema, whether it stands where a part may stand or not."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def _parts_inside(node: dict[str, Any]) -> Iterator[Any]:
    """The parts that look at what is inside a value, but for properties with a name."""
    for word in ONE_INSIDE:
        part = node.get(word)
        yield from part if isinstance(part, list) else () if part is None else (part,)
    yield from _listed(node.get("prefixItems"))
    yield from _valued(node.get("patternProperties"))


def _has_deep_alternatives(node: dict[str, Any]) -> bool:
    """Whether one of several schemas must fit, and one of them looks further than at the value itself."""
    further = (*ONE_INSIDE, *SEVERAL_HERE, *REFERENCES, "properties", "prefixItems", "patternProperties")
    options = (*_listed(node.get("anyOf")), *_listed(node.get("oneOf")))
    return any(isinstance(option, dict) and any(word in option for word in further) for option in options)


def _own_cost(node: dict[str, Any]) -> tuple[float, float]:
    listed = sum(len(node[word]) for word in ("enum", "required", "properties") if _is_sized(node.get(word)))
    return 1 + len(node) / 4 + listed / 20, sum(map(pattern_states, _patterns_of(node)))


def _patterns_of(node: dict[str, Any]) -> Iterator[str]:
    if isinstance(pattern := node.get("pattern"), str):
        yield pattern
    if isinstance(named := node.get("patternProperties"), dict):
        yield from named


def _check_pattern(pattern: str) -> None:
    if len(pattern) > PATTERN:
        raise UsageError(f"a pattern in it has {len(pattern):,} characters, and {PATTERN:,} are the limit")
    if (states := pattern_states(pattern)) > STATES:
        raise UsageError(
            f"the pattern {pattern[:60]!r} in it unfolds to {states:,.0f} states, "
            f"and {STATES:,} are the limit: its repetitions multiply"
        )


def pattern_states(pattern: str) -> float:
    """How large a pattern is with its counted repetitions written out: (a{10}){10} is a hundred."""
    groups = [[0.0, 0.0]]  # each: what it comes to so far, and its last part
    for piece in _PIECE.finditer(pattern):
        text = piece[0]
        if text == "(":
            groups.append([0.0, 0.0])
        elif text == ")" and len(groups) > 1:
            size = sum(groups.pop())
            groups[-1] = [sum(groups[-1]), size]
        elif piece[1] is not None:
            groups[-1][1] *= max(1, int(piece[2] or piece[1]))
        else:
            groups[-1] = [sum(groups[-1]), 1.0]
    return sum(map(sum, groups))


def _at(root: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(root, dict):
            root = root.get(name)
        elif isinstance(root, list) and name.isdigit() and int(name) < len(root):
            root = root[int(name)]
        else:
            return None
    return root


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _valued(value: Any) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, dict) else ())


def _is_sized(value: Any) -> bool:
    return isinstance(value, list | dict)
