"""What a checker says: one rule that one body breaks, where, and whether that is fatal.

The answer is the provider's own text with the values of this body filled in, so that
someone with an error in hand recognises it; the advice is the way on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

Level: TypeAlias = Literal["refused", "warning"]

T = TypeVar("T")


class Problem(Struct, frozen=True):
    """One thing in a request that its provider would refuse, or that only some servers refuse.

    `level` is "warning" where a server was seen to take it all the same, and where the server
    looks the other way but the model suffers.
    """

    rule: str
    path: str
    answer: str
    advice: str
    level: Level = "refused"

    @property
    def is_refused(self) -> bool:
        return self.level == "refused"


def as_warnings(rule: Callable[[T], Iterator[Problem]]) -> Callable[[T], Iterator[Problem]]:
    """The same rule, for a server that does not refuse what breaks it."""

    def warnings(seen: T) -> Iterator[Problem]:
        return (replace(problem, level="warning") for problem in rule(seen))

    return warnings
