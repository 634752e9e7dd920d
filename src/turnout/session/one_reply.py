"""One reply to a history as it is: the exchange without the tools. `Session.reply` drives it in a task."""

from __future__ import annotations

from typing import Any

from ..model import Usage
from ..providers.cost import cost_of
from .events import Complete, Emit, Terminal
from .exchange import Exchange, ReplyRules
from .rounds import RoundPorts


class OneReply:
    """The next reply of a session, with failover, retries and recovery. Its calls stay open."""

    def __init__(self, ports: RoundPorts, options: dict[str, Any], rules: ReplyRules) -> None:
        self._ports = ports
        self._options = options
        self._rules = rules

    async def __call__(self, emit: Emit) -> Terminal:
        ports = self._ports
        ports.check_limits()
        tools = ports.tool_specs() or tuple(ports.history.tools)  # those that a client declared
        turn = await Exchange(ports.reply, emit, tools, self._options, self._rules).reply()
        return Complete(turn, turn.usage or Usage(), cost_of([turn]))
