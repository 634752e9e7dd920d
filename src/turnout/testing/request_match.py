"""Which recorded exchange a request belongs to, and what differs where none does. No IO.

Two requests are the same if method, address and body are. Ids of tool calls differ from run to run where a
session has a new id each time, so only their pattern counts: the same id again, or another one. What was
redacted fits anything.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Any

from ..errors import UsageError
from ..plain import dumps
from ..world.secrets import MARK
from .cassette_file import RecordedRequest

IDS = ("call_id", "tool_call_id", "tool_use_id", "toolUseId")
ARGUMENTS = ("input", "args", "arguments", "parameters")
"""Fields with values of the user's: an `id` in them is not an id of ours."""
VOLATILE = ("user_prompt_id", "session_id")
SHOWN = 120
MOST_LINES = 8
NEAREST = 20
"""How many exchanges are compared in full to find the nearest one."""


class CassetteMismatch(UsageError):
    """A request that was not recorded, or was recorded otherwise; the message says what differs."""


def find_match(
    sent: RecordedRequest, recorded: Sequence[tuple[int, RecordedRequest]], ignore: Collection[str]
) -> int | None:
    """The number of the first recorded request that is the same; None where there is none."""
    return next(
        (at for at, each in recorded if next(differences_between(each, sent, ignore), None) is None), None
    )


def describe_mismatch(
    sent: RecordedRequest, recorded: Sequence[tuple[int, RecordedRequest]], ignore: Collection[str]
) -> list[str]:
    """The recorded request that is nearest, and what differs, line by line."""
    if not recorded:
        return ["every recorded exchange was asked for already"]
    listed = [(list(differences_between(each, sent, ignore)), at) for at, each in recorded[:NEAREST]]
    lines, at = min(listed, key=lambda row: len(row[0]))
    more = [f"  … and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return [
        f"the nearest is exchange {at + 1}, which differs:",
        *(f"  {line}" for line in lines[:MOST_LINES]),
        *more,
    ]


def differences_between(
    recorded: RecordedRequest, sent: RecordedRequest, ignore: Collection[str]
) -> Iterator[str]:
    """One line for each place where they differ."""
    for name in ("method", "url"):
        yield from _differences(getattr(recorded, name), getattr(sent, name), name)
    left, right = _Pattern(ignore), _Pattern(ignore)
    yield from _differences(left.plain_body(recorded.body), right.plain_body(sent.body), "body")


class _Pattern:
    """A body in which ids are numbered in the order in which they appear."""

    def __init__(self, ignore: Collection[str]) -> None:
        self._ignored = {*VOLATILE, *ignore}
        self._numbers: dict[str, str] = {}

    def plain_body(self, value: Any) -> Any:
        match value:
            case dict():
                return {
                    name: self._plain_field(name, below, value)
                    for name, below in value.items()
                    if name not in self._ignored
                }
            case list():
                return [self.plain_body(below) for below in value]
        return value

    def _plain_field(self, name: str, value: Any, around: dict[str, Any]) -> Any:
        is_id = name in IDS or (name == "id" and ("type" in around or "name" in around))
        if is_id and isinstance(value, str):
            return self._numbers.setdefault(value, f"<id {len(self._numbers) + 1}>")
        if name in ARGUMENTS and isinstance(value, dict):
            return value
        return self.plain_body(value)


def _differences(recorded: Any, sent: Any, place: str) -> Iterator[str]:
    match recorded, sent:
        case dict(), dict():
            for name in [*recorded, *(name for name in sent if name not in recorded)]:
                below = f"{place}.{name}"
                if name not in sent:
                    yield f"{below}: recorded {_excerpt(recorded[name])}, not sent"
                elif name not in recorded:
                    yield f"{below}: sent {_excerpt(sent[name])}, not recorded"
                else:
                    yield from _differences(recorded[name], sent[name], below)
        case list(), list():
            for at, (left, right) in enumerate(zip(recorded, sent, strict=False)):
                yield from _differences(left, right, f"{place}[{at}]")
            if len(recorded) != len(sent):
                yield f"{place}: {len(recorded)} recorded, {len(sent)} sent"
        case str(), str():
            if not _is_same_text(recorded, sent):
                yield _text_difference(recorded, sent, place)
        case _ if recorded != sent or isinstance(recorded, bool) != isinstance(sent, bool):
            yield f"{place}: recorded {_excerpt(recorded)}, sent {_excerpt(sent)}"


def _is_same_text(recorded: str, sent: str) -> bool:
    if recorded == sent or MARK not in recorded:
        return recorded == sent
    pattern = ".*".join(re.escape(part) for part in recorded.split(MARK))
    return re.fullmatch(pattern, sent, re.DOTALL) is not None


def _text_difference(recorded: str, sent: str, place: str) -> str:
    """Both texts from shortly before the place where they part."""
    pairs = zip(recorded, sent, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = max(same - SHOWN // 3, 0) if max(len(recorded), len(sent)) > SHOWN else 0
    cut = "…" if start else ""
    return f"{place}: recorded {cut}{_excerpt(recorded[start:])}, sent {cut}{_excerpt(sent[start:])}"


def _excerpt(value: Any) -> str:
    text = dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
