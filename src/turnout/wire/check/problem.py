"""What a checker reports: the rule that a body breaks, where, and whether it is refused for it.

The answer is the provider's own text with the values of this body, so that a reader with an
error message recognises it. The advice says what to do.
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

    `level` is "warning" if some server was seen to accept it, or if the server accepts it but the
    model answers worse.
    """

    rule: str
    path: str
    answer: str
    advice: str
    level: Level = "refused"

    @property
    def is_refused(self) -> bool:
        """Whether a server refuses the request for it; else it is a warning."""
        return self.level == "refused"


def as_warnings(rule: Callable[[T], Iterator[Problem]]) -> Callable[[T], Iterator[Problem]]:
    """The same rule as warnings, for a server that does not enforce it."""

    def warnings(seen: T) -> Iterator[Problem]:
        return (replace(problem, level="warning") for problem in rule(seen))

    return warnings
