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
    from .providers.inbound import InboundRequest as InboundRequest
    from .providers.inbound import read_request as read_request
    from .providers.reply import decode as decode
    from .providers.reply import stream as stream
    from .providers.request import render as render
    from .providers.request import transcript as transcript
    from .runtime.attempt import Timeouts as Timeouts
    from .runtime.compress import CompressPolicy as CompressPolicy
    from .runtime.cost import Limits as Limits
    from .runtime.diagnose import diagnose as diagnose
    from .runtime.events import Cancelled as Cancelled
    from .runtime.events import Complete as Complete
    from .runtime.events import Discarded as Discarded
    from .runtime.events import Failed as Failed
    from .runtime.events import Nested as Nested
    from .runtime.events import Status as Status
    from .runtime.guards import GuardLimits as GuardLimits
    from .runtime.hooks import Hooks as Hooks
    from .runtime.hooks import ModelRequest as ModelRequest
    from .runtime.keys import KeyCommand as KeyCommand
    from .runtime.keys import KeyFile as KeyFile
    from .runtime.otel import OpenTelemetry as OpenTelemetry
    from .runtime.retry import RetryPolicy as RetryPolicy
    from .runtime.session import Answer as Answer
    from .runtime.session import Session as Session
    from .runtime.store import Store as Store
    from .runtime.subagents import SubagentLimits as SubagentLimits
    from .runtime.transport import forbid_requests as forbid_requests
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
    from .tools.events import ToolProgress as ToolProgress
    from .tools.events import ToolResult as ToolResult
    from .tools.events import ToolState as ToolState
    from .tools.hooks import Refuse as Refuse
    from .tools.tool import Tool as Tool
    from .tools.tool import ToolContext as ToolContext
    from .tools.tool import tool as tool
    from .wire.check import check as check

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
    "providers.inbound": ("InboundRequest", "read_request"),
    "providers.reply": ("decode", "stream"),
    "providers.request": ("render", "transcript"),
    "runtime.attempt": ("Timeouts",),
    "runtime.compress": ("CompressPolicy",),
    "runtime.cost": ("Limits",),
    "runtime.diagnose": ("diagnose",),
    "runtime.events": ("Cancelled", "Complete", "Discarded", "Failed", "Nested", "Status"),
    "runtime.guards": ("GuardLimits",),
    "runtime.hooks": ("Hooks", "ModelRequest"),
    "runtime.keys": ("KeyCommand", "KeyFile"),
    "runtime.otel": ("OpenTelemetry",),
    "runtime.retry": ("RetryPolicy",),
    "runtime.session": ("Answer", "Session"),
    "runtime.store": ("Store",),
    "runtime.subagents": ("SubagentLimits",),
    "runtime.transport": ("forbid_requests",),
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
    "tools.events": ("ToolProgress", "ToolResult", "ToolState"),
    "tools.hooks": ("Refuse",),
    "tools.tool": ("Tool", "ToolContext", "tool"),
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
