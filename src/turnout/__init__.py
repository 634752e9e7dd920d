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
    from .history.ledger import Ledger as Ledger
    from .history.ledger import ToolInteraction as ToolInteraction
    from .history.log import History as History
    from .history.waiting import WaitingCall as WaitingCall
    from .hosted_tools import hosted as hosted
    from .model import Code as Code
    from .model import Compaction as Compaction
    from .model import Media as Media
    from .model import Message as Message
    from .model import ModelTurn as ModelTurn
    from .model import Note as Note
    from .model import Opaque as Opaque
    from .model import Origin as Origin
    from .model import Outcome as Outcome
    from .model import Residue as Residue
    from .model import Rewind as Rewind
    from .model import Settled as Settled
    from .model import Started as Started
    from .model import SystemTurn as SystemTurn
    from .model import Text as Text
    from .model import Thinking as Thinking
    from .model import ToolCall as ToolCall
    from .model import ToolResponse as ToolResponse
    from .model import ToolSpec as ToolSpec
    from .model import Usage as Usage
    from .model import UserTurn as UserTurn
    from .rendering.report import Rendered as Rendered
    from .rendering.report import Report as Report
    from .session.answer import Answer as Answer
    from .session.compress import CompressPolicy as CompressPolicy
    from .session.events import Cancelled as Cancelled
    from .session.events import Complete as Complete
    from .session.events import Discarded as Discarded
    from .session.events import Failed as Failed
    from .session.events import Nested as Nested
    from .session.events import Status as Status
    from .session.events import Waiting as Waiting
    from .session.hooks import Hooks as Hooks
    from .session.hooks import ModelRequest as ModelRequest
    from .session.limits import Limits as Limits
    from .session.limits import SubagentLimits as SubagentLimits
    from .session.limits import Timeouts as Timeouts
    from .session.retry import RetryPolicy as RetryPolicy
    from .session.run import Events as Events
    from .session.session import Session as Session
    from .session.settings import Approval as Approval
    from .session.settings import Routing as Routing
    from .session.settings import Workspace as Workspace
    from .store import Store as Store
    from .streaming.events import Done as Done
    from .streaming.events import Error as Error
    from .streaming.events import OpaqueBlock as OpaqueBlock
    from .streaming.events import TextDelta as TextDelta
    from .streaming.events import TextEnd as TextEnd
    from .streaming.events import ThinkingDelta as ThinkingDelta
    from .streaming.events import ThinkingEnd as ThinkingEnd
    from .streaming.events import ToolCallComplete as ToolCallComplete
    from .streaming.events import ToolCallDelta as ToolCallDelta
    from .streaming.events import ToolCallStart as ToolCallStart
    from .streaming.reply import ReplyBuilder as ReplyBuilder
    from .streaming.sse import SseDecoder as SseDecoder
    from .streaming.sse import SseEvent as SseEvent
    from .streaming.tracker import ToolCallTracker as ToolCallTracker
    from .targets.count import count as count
    from .targets.diagnose import Diagnosis as Diagnosis
    from .targets.diagnose import diagnose as diagnose
    from .targets.error_body import ErrorBody as ErrorBody
    from .targets.error_body import error_body as error_body
    from .targets.inbound import InboundRequest as InboundRequest
    from .targets.inbound import read_request as read_request
    from .targets.receive import receive as receive
    from .targets.reply import decode as decode
    from .targets.reply import stream as stream
    from .targets.request import render as render
    from .targets.request import transcript as transcript
    from .targets.target import Target as Target
    from .targets.target import target as target
    from .telemetry.counts import Exporter as Exporter
    from .telemetry.counts import Operation as Operation
    from .telemetry.counts import Telemetry as Telemetry
    from .telemetry.otel import OpenTelemetry as OpenTelemetry
    from .tools.confine.threads import ThreadPort as ThreadPort
    from .tools.declare.context import Question as Question
    from .tools.declare.events import ToolProgress as ToolProgress
    from .tools.declare.events import ToolResult as ToolResult
    from .tools.declare.events import ToolState as ToolState
    from .tools.declare.events import ToolWaiting as ToolWaiting
    from .tools.declare.provided import Provided as Provided
    from .tools.declare.tool import Tool as Tool
    from .tools.declare.tool import ToolContext as ToolContext
    from .tools.declare.tool import ToolOffer as ToolOffer
    from .tools.declare.tool import tool as tool
    from .tools.declare.tool_set import ToolSet as ToolSet
    from .tools.policy.approval import ApprovalRequest as ApprovalRequest
    from .tools.policy.approval import Decision as Decision
    from .tools.policy.rules import Rule as Rule
    from .tools.schedule.scheduler import ToolLimits as ToolLimits
    from .tools.schedule.tool_hooks import Refuse as Refuse
    from .wire.check import check as check
    from .wire.check.problem import Problem as Problem
    from .wire.options import Options as Options
    from .wire.reply_encoder import ReplyEncoder as ReplyEncoder
    from .wire.request import WireRequest as WireRequest
    from .world.keys import KeyCommand as KeyCommand
    from .world.keys import KeyFile as KeyFile
    from .world.learned_steps import LearnedSteps as LearnedSteps
    from .world.ports import Chance as Chance
    from .world.ports import Incoming as Incoming
    from .world.ports import Outgoing as Outgoing
    from .world.ports import Transport as Transport
    from .world.token_source import TokenSource as TokenSource
    from .world.transport import HttpTransport as HttpTransport
    from .world.transport import forbid_requests as forbid_requests
    from .world.world import World as World

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
    "history.ledger": ("Ledger", "ToolInteraction"),
    "history.log": ("History",),
    "history.waiting": ("WaitingCall",),
    "hosted_tools": ("hosted",),
    "model": (
        "Code",
        "Compaction",
        "Media",
        "Message",
        "ModelTurn",
        "Note",
        "Opaque",
        "Origin",
        "Outcome",
        "Residue",
        "Rewind",
        "Settled",
        "Started",
        "SystemTurn",
        "Text",
        "Thinking",
        "ToolCall",
        "ToolResponse",
        "ToolSpec",
        "Usage",
        "UserTurn",
    ),
    "rendering.report": ("Rendered", "Report"),
    "session.answer": ("Answer",),
    "session.compress": ("CompressPolicy",),
    "session.events": ("Cancelled", "Complete", "Discarded", "Failed", "Nested", "Status", "Waiting"),
    "session.hooks": ("Hooks", "ModelRequest"),
    "session.limits": ("Limits", "SubagentLimits", "Timeouts"),
    "session.retry": ("RetryPolicy",),
    "session.run": ("Events",),
    "session.session": ("Session",),
    "session.settings": ("Approval", "Routing", "Workspace"),
    "store": ("Store",),
    "streaming.events": (
        "Done",
        "Error",
        "OpaqueBlock",
        "TextDelta",
        "TextEnd",
        "ThinkingDelta",
        "ThinkingEnd",
        "ToolCallComplete",
        "ToolCallDelta",
        "ToolCallStart",
    ),
    "streaming.reply": ("ReplyBuilder",),
    "streaming.sse": ("SseDecoder", "SseEvent"),
    "streaming.tracker": ("ToolCallTracker",),
    "targets.count": ("count",),
    "targets.diagnose": ("Diagnosis", "diagnose"),
    "targets.error_body": ("ErrorBody", "error_body"),
    "targets.inbound": ("InboundRequest", "read_request"),
    "targets.receive": ("receive",),
    "targets.reply": ("decode", "stream"),
    "targets.request": ("render", "transcript"),
    "targets.target": ("Target", "target"),
    "telemetry.counts": ("Exporter", "Operation", "Telemetry"),
    "telemetry.otel": ("OpenTelemetry",),
    "tools.confine.threads": ("ThreadPort",),
    "tools.declare.context": ("Question",),
    "tools.declare.events": ("ToolProgress", "ToolResult", "ToolState", "ToolWaiting"),
    "tools.declare.provided": ("Provided",),
    "tools.declare.tool": ("ToolOffer", "Tool", "ToolContext", "tool"),
    "tools.declare.tool_set": ("ToolSet",),
    "tools.policy.approval": ("ApprovalRequest", "Decision"),
    "tools.policy.rules": ("Rule",),
    "tools.schedule.scheduler": ("ToolLimits",),
    "tools.schedule.tool_hooks": ("Refuse",),
    "wire.check": ("check",),
    "wire.check.problem": ("Problem",),
    "wire.options": ("Options",),
    "wire.reply_encoder": ("ReplyEncoder",),
    "wire.request": ("WireRequest",),
    "world.keys": ("KeyCommand", "KeyFile"),
    "world.learned_steps": ("LearnedSteps",),
    "world.ports": ("Chance", "Incoming", "Outgoing", "Transport"),
    "world.token_source": ("TokenSource",),
    "world.transport": ("HttpTransport", "forbid_requests"),
    "world.world": ("World",),
}
_PACKAGES = ("errors", "simulate", "tools", "workers")
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
