"""What policy looks at beyond a call's arguments: where it would run, and what a tool says of it.

A tool may assess a call before it runs (`Tool.assess`): a shell command that only reads
is less than a shell command can be. An assessment may lower what the tool declares, so
it must be made from what is known, never from what is hoped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from .tool import Risk


class Situation(Struct, frozen=True):
    """The place of a call. `tainted` names the source of untrusted content in the context, or is ""."""

    workspace: Any = None
    spawn: Any = None
    environment: Mapping[str, str] | None = None
    state: dict[str, Any] = field(default_factory=dict)
    tainted: str = ""

    @property
    def confined(self) -> bool:
        """Whether commands run in a sandbox."""
        return bool(getattr(self.spawn, "confines", False))

    @property
    def network(self) -> bool:
        """Whether commands can reach other machines."""
        return not self.confined or bool(getattr(self.spawn, "network", True))


class Assessment(Struct, frozen=True):
    """What a call amounts to, in its tool's judgement.

    `parts` are the pieces that an argument is made of: a rule that allows must cover each, one
    that denies needs to meet one. No pieces means that they cannot be told; `too_much` that
    there were too many to look. `reached` are further pieces that only a rule that denies or
    asks looks at: what the others come to. `possible` are pieces that may be none: what a rule against
    them meets is asked for. `untold` are arguments that hold more than can be told.
    `mentions` are paths that the call may touch, and `may_show` says why it may show the content
    of files that it does not name. `leaves`: whether it may send something off the machine.
    `only_reads`: it is known to change nothing, so that other reading may go on beside it.
    """

    risk: Risk
    why: str = ""
    paths: tuple[str, ...] = ()
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    too_much: bool = False
    leaves: bool = False
    only_reads: bool = False
    reached: dict[str, tuple[str, ...]] = field(default_factory=dict)
    untold: tuple[str, ...] = ()
    possible: dict[str, tuple[str, ...]] = field(default_factory=dict)
    mentions: tuple[str, ...] = ()
    may_show: str = ""
