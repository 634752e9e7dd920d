"""Simulated providers: they refuse what the real ones refuse, and answer as a script says.

Each provider of `providers` on loopback or in memory, strict by `wire.check`. `script` says what a
model answers. Others import the names below. Imports `world.ports`, `providers`, `wire`.
"""

from ..wire.shared.reply import Call, Hosted, Say, Think
from .provider import SimulatedProvider
from .request import SimulatedRequest
from .script import (
    Delay,
    Drop,
    Ends,
    Garble,
    HttpError,
    MidStreamError,
    Odd,
    Pings,
    Raw,
    Repeat,
    Reply,
    Reset,
    Split,
    Stall,
    Truncate,
    read_script,
)
from .scripted import ScriptedModel, ScriptedTransport
from .sent_request import SentRequest, SentRequests
from .simulation import SimulatedExchange, Simulation

__all__ = [
    "Call",
    "Delay",
    "Drop",
    "Ends",
    "Garble",
    "Hosted",
    "HttpError",
    "MidStreamError",
    "Odd",
    "Pings",
    "Raw",
    "Repeat",
    "Reply",
    "Reset",
    "Say",
    "ScriptedModel",
    "ScriptedTransport",
    "SentRequest",
    "SentRequests",
    "SimulatedExchange",
    "SimulatedProvider",
    "SimulatedRequest",
    "Simulation",
    "Split",
    "Stall",
    "Think",
    "Truncate",
    "read_script",
]
