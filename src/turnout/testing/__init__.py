"""For the tests of people who use turnout: a scripted model, recordings, what was sent, no requests.

Others import the names below. The plugin of pytest is `turnout.pytest_plugin`; it loads this package when a
test uses one of its fixtures. Imports `simulate`, `world`, `tools`, `wire`.
"""

from ..simulate.request import SimulatedRequest
from ..simulate.script import (
    Delay,
    Drop,
    Ends,
    HttpError,
    MidStreamError,
    Raw,
    Reset,
    Split,
    Stall,
    Truncate,
)
from ..simulate.scripted import ScriptedModel
from ..simulate.sent_request import SentRequest, SentRequests
from ..tools.confine.forbidden_requests import forbid_requests
from ..wire.shared.reply import Call, Say, Think
from ..world.shared_http import use_transport
from .cassette import Cassette
from .fixture import TurnoutFixture
from .request_match import CassetteMismatch

__all__ = [
    "Call",
    "Cassette",
    "CassetteMismatch",
    "Delay",
    "Drop",
    "Ends",
    "HttpError",
    "MidStreamError",
    "Raw",
    "Reset",
    "Say",
    "ScriptedModel",
    "SentRequest",
    "SentRequests",
    "SimulatedRequest",
    "Split",
    "Stall",
    "Think",
    "Truncate",
    "TurnoutFixture",
    "forbid_requests",
    "use_transport",
]
