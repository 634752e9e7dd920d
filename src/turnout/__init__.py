"""turnout: conversations with tools that change provider at any turn and go on.

The public names, and nothing else. Each is loaded when it is first used, so that
`import turnout` stays light.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # `typing` is most of what a bare import would cost; checkers know this name

if TYPE_CHECKING:
    from typing import Any

    from . import errors as errors
    from . import simulate as simulate
    from . import tools as tools
    from .diagnostic import Diagnostic as Diagnostic
    from .errors import CorruptHistory as CorruptHistory
    from .errors import HookError as HookError
    from .errors import LimitReached as LimitReached
    from .errors import ProviderError as ProviderError
    from .errors import SessionHeld as SessionHeld
    from .errors import StoreError as StoreError
    from .errors import StreamError as StreamError
    from .errors import TurnoutError as TurnoutError
    from .errors import UsageError as UsageError
    from .history.ingest import ingest as ingest
    from .history.log import History as History
    from .model import Code as Code
    from .model import Media as Media
    from .model import Message as Message
    from .model import ModelTurn as ModelTurn
    from .model import Opaque as Opaque
    from .model import Origin as Origin
    from .model import Outcome as Outcome
    from .model import Residue as Residue
    from .model import SystemTurn as SystemTurn
    from .model import Text as Text
    from .model import Thinking as Thinking
    from .model import ToolCall as ToolCall
    from .model import ToolSpec as ToolSpec
    from .model import Usage as Usage
    from .model import UserTurn as UserTurn
    from .providers.cost import Limits as Limits
    from .session.attempt import Timeouts as Timeouts
    from .session.compress import CompressPolicy as CompressPolicy
    from .session.events import Cancelled as Cancelled
    from .session.events import Complete as Complete
    from .session.events import Discarded as Discarded
    from .session.events import Failed as Failed
    from .session.events import Nested as Nested
    from .session.events import Status as Status
    from .session.guards import GuardLimits as GuardLimits
    from .session.hooks import Hooks as Hooks
    from .session.hooks import ModelRequest as ModelRequest
    from .session.retry import RetryPolicy as RetryPolicy
    from .session.session import Answer as Answer
    from .session.session import Session as Session
    from .session.subagents import SubagentLimits as SubagentLimits
    from .store import Store as Store
    from .streaming.events import Done as Done
    from .streaming.events import Error as Error
    from .streaming.events import OpaqueBlock as OpaqueBlock
    from .streaming.events import TextDelta as TextDelta
    from .streaming.events import ThinkingDelta as ThinkingDelta
    from .streaming.events import ThinkingEnd as ThinkingEnd
    from .streaming.events import ToolCallComplete as ToolCallComplete
    from .streaming.events import ToolCallDelta as ToolCallDelta
    from .streaming.events import ToolCallStart as ToolCallStart
    from .streaming.reply import ReplyBuilder as ReplyBuilder
    from .streaming.sse import SseDecoder as SseDecoder
    from .streaming.tracker import ToolCallTracker as ToolCallTracker
    from .targets.diagnose import diagnose as diagnose
    from .targets.inbound import InboundRequest as InboundRequest
    from .targets.inbound import read_request as read_request
    from .targets.reply import decode as decode
    from .targets.reply import stream as stream
    from .targets.request import render as render
    from .targets.request import transcript as transcript
    from .telemetry.otel import OpenTelemetry as OpenTelemetry
    from .tools.declare.events import ToolProgress as ToolProgress
    from .tools.declare.events import ToolResult as ToolResult
    from .tools.declare.events import ToolState as ToolState
    from .tools.declare.tool import Tool as Tool
    from .tools.declare.tool import ToolContext as ToolContext
    from .tools.declare.tool import tool as tool
    from .tools.schedule.tool_hooks import Refuse as Refuse
    from .wire.check import check as check
    from .world.keys import KeyCommand as KeyCommand
    from .world.keys import KeyFile as KeyFile
    from .world.transport import forbid_requests as forbid_requests

_HOMES = {
    "diagnostic": ("Diagnostic",),
    "errors": (
        "CorruptHistory",
        "HookError",
        "LimitReached",
        "ProviderError",
        "SessionHeld",
        "StoreError",
        "StreamError",
        "TurnoutError",
        "UsageError",
    ),
    "history.ingest": ("ingest",),
    "history.log": ("History",),
    "model": (
        "Code",
        "Media",
        "Message",
        "ModelTurn",
        "Opaque",
        "Origin",
        "Outcome",
        "Residue",
        "SystemTurn",
        "Text",
        "Thinking",
        "ToolCall",
        "ToolSpec",
        "Usage",
        "UserTurn",
    ),
    "targets.inbound": ("InboundRequest", "read_request"),
    "targets.reply": ("decode", "stream"),
    "targets.request": ("render", "transcript"),
    "session.attempt": ("Timeouts",),
    "session.compress": ("CompressPolicy",),
    "providers.cost": ("Limits",),
    "targets.diagnose": ("diagnose",),
    "session.events": ("Cancelled", "Complete", "Discarded", "Failed", "Nested", "Status"),
    "session.guards": ("GuardLimits",),
    "session.hooks": ("Hooks", "ModelRequest"),
    "world.keys": ("KeyCommand", "KeyFile"),
    "telemetry.otel": ("OpenTelemetry",),
    "session.retry": ("RetryPolicy",),
    "session.session": ("Answer", "Session"),
    "store": ("Store",),
    "session.subagents": ("SubagentLimits",),
    "world.transport": ("forbid_requests",),
    "streaming.events": (
        "Done",
        "Error",
        "OpaqueBlock",
        "TextDelta",
        "ThinkingDelta",
        "ThinkingEnd",
        "ToolCallComplete",
        "ToolCallDelta",
        "ToolCallStart",
    ),
    "streaming.reply": ("ReplyBuilder",),
    "streaming.sse": ("SseDecoder",),
    "streaming.tracker": ("ToolCallTracker",),
    "tools.declare.events": ("ToolProgress", "ToolResult", "ToolState"),
    "tools.schedule.tool_hooks": ("Refuse",),
    "tools.declare.tool": ("Tool", "ToolContext", "tool"),
    "wire.check": ("check",),
}
_PACKAGES = ("errors", "simulate", "tools")
"""Reached as `turnout.simulate` too, without an import of their own."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(["__version__", *_HOME_OF])


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if (home := _HOME_OF.get(name)) is None:
        raise AttributeError(f"module 'turnout' has no attribute {name!r}")
    found = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
