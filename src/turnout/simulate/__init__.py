"""Providers without a network: they refuse what the real ones refuse, and say what a script says.

Each provider of `providers` on loopback or in memory, strict by `wire.check`. `script` says what a
model answers. Others import the names below. Imports `world.ports`, `providers`, `wire`.
"""

from ..wire.shared.reply import Call, Hosted, Say, Think
from .provider import SimulatedProvider
from .request import Asked
from .script import (
    Delay,
    Drop,
    Ends,
    Garble,
    HttpError,
    Odd,
    Pings,
    Raw,
    Repeat,
    Reply,
    Reset,
    Split,
    Stall,
    StreamError,
    Truncate,
    read_script,
)
from .scripted import ScriptedModel, ScriptedTransport
from .simulation import Exchange, Simulation

__all__ = [
    "Asked",
    "Call",
    "Delay",
    "Drop",
    "Ends",
    "Exchange",
    "Garble",
    "Hosted",
    "HttpError",
    "Odd",
    "Pings",
    "Raw",
    "Repeat",
    "Reply",
    "Reset",
    "Say",
    "ScriptedModel",
    "ScriptedTransport",
    "SimulatedProvider",
    "Simulation",
    "Split",
    "Stall",
    "StreamError",
    "Think",
    "Truncate",
    "read_script",
]
