"""What policy looks at besides a call's arguments: where it would run, and the tool's assessment of it.

A tool may assess a call before it runs (`Tool.assess`): a shell command that only reads is less
risky than shell commands in general. An assessment may lower the risk that the tool declares, so it
must rest on known facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from ..declare.tool import Risk


class Situation(Struct, frozen=True):
    """Where a call runs. `tainted` names the source of untrusted content in the context, or is ""."""

    workspace: Any = None
    spawn: Any = None
    environment: Mapping[str, str] | None = None
    state: dict[str, Any] = field(default_factory=dict)
    tainted: str = ""

    @property
    def is_confined(self) -> bool:
        """Whether commands run in a sandbox."""
        return bool(getattr(self.spawn, "confines", False))

    @property
    def network(self) -> bool:
        """Whether commands can reach other machines."""
        return not self.is_confined or bool(getattr(self.spawn, "network", True))


class Assessment(Struct, frozen=True):
    """What a call would do, in the judgement of its tool.

    `parts` are the pieces of an argument: an allowing rule must match each of them, a denying rule
    needs to match one. No pieces means that they are unknown; `too_much` that there were too many to
    look at. `reached` are further pieces that only denying and asking rules look at: the commands
    that the others start. `possible` are texts that may be commands: a rule against them asks.
    `unclear` names arguments that may hold more than can be seen. `mentions`
    are paths that the call may touch, and `may_show` says why it may show the content of files that
    it does not name. `leaves`: whether it may send something off the machine. `only_reads`: it is
    known to change nothing, so that other calls that read may run at the same time.
    """

    risk: Risk
    why: str = ""
    paths: tuple[str, ...] = ()
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    too_much: bool = False
    leaves: bool = False
    only_reads: bool = False
    reached: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unclear: tuple[str, ...] = ()
    possible: dict[str, tuple[str, ...]] = field(default_factory=dict)
    mentions: tuple[str, ...] = ()
    may_show: str = ""
