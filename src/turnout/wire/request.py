"""One request: what the target's model can do, and what goes to its server."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..diagnostic import Diagnostic
from ..model import Origin
from ..rendering.report import Rendered, Report


class ModelFacts(Struct, frozen=True, kw_only=True):
    """What a model can do, as data. The defaults are for unknown models."""

    context: int = 128_000
    output: int = 8_192
    thinking: tuple[str, ...] = ()  # the switches it takes: manual, adaptive, off, effort, always
    efforts: tuple[str, ...] = ()
    sampling: bool = True
    media: tuple[str, ...] = ("image/png", "image/jpeg", "image/webp", "image/gif")
    tools: bool = True
    forced_tools: bool = True
    chat_tools: str = ""  # "no_reasoning": OAC-11, function tools on Chat only with reasoning_effort none
    signatures: bool = False  # GEM-07: the first call of every step must be signed
    system_turns: bool = False  # Claude 4.8+: system messages in mid conversation
    verbosity: bool = False  # takes the option
    known: bool = True
    window: int = 0  # what the server was asked to read, where a request can say it


class Setting(Struct, frozen=True, kw_only=True):
    """One target as the encoders see it."""

    origin: Origin
    facts: ModelFacts

    @property
    def model(self) -> str:
        return self.origin.model


class WireRequest(Struct, frozen=True, kw_only=True):
    """One request, ready to send except for the key."""

    url: str
    headers: dict[str, str]
    body: bytes
    protocol: str
    target: Origin
    source: Rendered
    changes: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()  # of the request itself; the report has the others too
    tools: tuple[str, ...] = ()  # by their own names
    method: str = "POST"

    @property
    def report(self) -> Report:
        """What the render changed; made when asked for."""
        return self.source.report_with(self.changes, self.diagnostics)

    @property
    def ids(self) -> dict[str, str]:
        """Canonical call ids, and what the target knows them as."""
        return {emitted.call_id: emitted.projected for emitted in self.report.calls}

    @property
    def names(self) -> dict[str, str]:
        """Names of tools on the wire, and their own names: for reading calls back."""
        return {sent: tool for tool, sent in self.source.ids.tool_names(self.tools).items()}

    @property
    def json(self) -> dict[str, Any]:
        """The body as a Python value."""
        return msgspec.json.decode(self.body)  # type: ignore[no-any-return]

    @property
    def params(self) -> dict[str, Any]:
        """The body as keyword arguments of the provider's own SDK."""
        from .shared.sdk import params  # needed only by callers that use the provider's SDK

        return params(self)
