"""The values that a session is made with: who approves what its tools do, and where they work."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from ..parameters import NamedFields
from ..tools.declare.context import Asker
from ..tools.policy.approval import Approver
from ..tools.policy.rules import Mode, Rule


class Approval(Struct, frozen=True, metaclass=NamedFields):
    """What tools may do without a question, and who is asked otherwise.

    `approver` answers whether a call may run; without one, a call that needs an answer is
    denied. `asker` puts a tool's own question to the user. `taint` asks before anything leaves
    the machine once untrusted content was read. `save_rule` keeps what was answered with "always".
    """

    mode: Mode = "ask"
    rules: Sequence[Rule] = ()
    approver: Approver | None = None
    asker: Asker | None = None
    taint: bool = True
    save_rule: Callable[[Rule], Awaitable[None] | None] | None = None


class Workspace(Struct, frozen=True, metaclass=NamedFields):
    """The folder that tools work in. `network`: commands may use the network."""

    path: str | os.PathLike[str]
    network: bool = False
