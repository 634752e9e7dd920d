"""The values that a session is made with: who approves what its tools do, and where they work."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from ..errors import UsageError
from ..model import ModelTurn
from ..parameters import NamedFields
from ..targets.target import Route
from ..tools.declare.context import Asker
from ..tools.policy.approval import Approver
from ..tools.policy.rules import Mode, Rule


class Approval(Struct, frozen=True, metaclass=NamedFields):
    """What tools may do without a question, and who is asked otherwise.

    `approver` answers whether a call may run; without one, a call that needs an answer is
    denied. `asker` puts a tool's own question to the user. `taint` asks before anything leaves
    the machine once untrusted content was read. `save_rule` keeps what was answered with "always".
    With `defer`, and without an approver, a call that needs an answer waits for one: the run ends as
    `Waiting`, and `session.answer` goes on, tomorrow or on another host.
    """

    mode: Mode = "ask"
    rules: Sequence[Rule] = ()
    approver: Approver | None = None
    asker: Asker | None = None
    taint: bool = True
    save_rule: Callable[[Rule], Awaitable[None] | None] | None = None
    defer: bool = False


AnswerFault = Literal["content_filter", "refusal", "empty"]
"""What can be wrong with a reply that arrived whole."""
Judge: TypeAlias = Callable[[ModelTurn], str | bool | Awaitable[str | bool | None] | None]


class Routing(Struct, frozen=True, metaclass=NamedFields):
    """How a session chooses among its targets.

    `on` names the answers after which the next target is asked too: "content_filter", "refusal",
    "empty". `judge` is a function of yours: it gets each reply and gives back why another target should
    be asked, True, or None if the reply is fine. When no target is left, the reply stands as it is.
    """

    order: Route = "failover"
    on: tuple[AnswerFault, ...] = ()
    judge: Judge | None = None

    def __post_init__(self) -> None:
        if wrong := [each for each in self.on if each not in get_args(AnswerFault)]:
            raise UsageError(f"on: {wrong[0]!r} is not one of {', '.join(get_args(AnswerFault))}")


class Workspace(Struct, frozen=True, metaclass=NamedFields):
    """The folder that tools work in. `network`: commands may use the network."""

    path: str | os.PathLike[str]
    network: bool = False
