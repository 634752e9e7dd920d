"""A request as a provider gets it: which protocol, which model, and what it asks for.

A scripted model decides by a `SimulatedRequest` what to answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from msgspec import Struct

from ..history.ingest import ingest
from ..history.log import History
from ..model import ModelTurn, Outcome, UserTurn, joined_text
from ..plain import loads
from ..wire.converse.encoder import NO_CALLS
from ..wire.protocol import PROTOCOLS, find_protocol
from ..wire.shared.offered_tools import STUB_DESCRIPTION

_GEMINI = re.compile(r"/models/([^/:]+):(stream)?generateContent$", re.IGNORECASE)
_VERTEX_CLAUDE = re.compile(r"/models/([^/:]+):(stream)?rawPredict$", re.IGNORECASE)
_DEPLOYMENT = re.compile(r"/deployments/([^/]+)/chat/completions$")
_BEDROCK = re.compile(r"/model/(.+)/(converse|invoke)(-stream|-with-response-stream)?$")
_CODE_ASSIST = re.compile(r"/v1internal:(stream)?generateContent$", re.IGNORECASE)


class Route(Struct, frozen=True):
    """The parts of a URL: the protocol, and for Gemini the model and the form of the answer."""

    protocol: str
    model: str = ""
    streams: bool = False
    sse: bool = True
    enveloped: bool = False  # Code Assist: request and answer inside another object


def route_of(url: str) -> Route | None:
    """The route of a URL or path, or None where no protocol has it."""
    split = urlsplit(url)
    path = unquote(split.path).rstrip("/")
    if found := _DEPLOYMENT.search(path):  # Azure's older path; without the version nothing is there
        return Route("chat", found[1]) if "api-version" in parse_qs(split.query) else None
    if found := _VERTEX_CLAUDE.search(path):
        return Route("anthropic", found[1], bool(found[2]))
    if found := _BEDROCK.search(path):
        return Route(found[2], found[1], bool(found[3]))
    for protocol in map(find_protocol, PROTOCOLS):
        if path.endswith(protocol.path.removeprefix("/v1")):
            return Route(protocol.name)
    sse = parse_qs(split.query).get("alt") == ["sse"]
    if found := _GEMINI.search(path):
        return Route("gemini", found[1], bool(found[2]), sse)
    if found := _CODE_ASSIST.search(path):
        return Route("gemini", "", bool(found[1]), sse, enveloped=True)
    return None


class SimulatedRequest:
    """One request, for the model that answers it."""

    def __init__(self, provider: str, route: Route, body: Any) -> None:
        self.provider = provider
        self.route = route
        outer = body if isinstance(body, Mapping) else {}
        inner = outer.get("request") if route.enveloped else outer
        self.body: dict[str, Any] = dict(inner) if isinstance(inner, Mapping) else {}
        self.model = route.model or str(outer.get("model") or "")
        self.earlier: tuple[Mapping[str, Any], ...] = ()  # the items that a chained request continues

    @property
    def protocol(self) -> str:
        """The API of the request."""
        return self.route.protocol

    @property
    def streams(self) -> bool:
        """Whether the client wants the reply as a stream."""
        if self.protocol in ("gemini", "converse", "invoke"):
            return self.route.streams
        default = self.protocol == "ollama"  # the API of Ollama streams by default
        return bool(self.body.get("stream", default))

    @cached_property
    def history(self) -> History:
        """The conversation of the request."""
        form = {"responses": "openai-responses", "anthropic": "anthropic", "gemini": "gemini"}
        form |= {"ollama": "ollama", "cohere": "cohere"}
        form |= {"converse": "bedrock-converse", "invoke": "bedrock-invoke"}
        body = self.body
        if self.earlier:
            new = body.get("input")
            listed = new if isinstance(new, list) else [{"role": "user", "content": new}]
            body = {**body, "input": [*self.earlier, *listed], "previous_response_id": None}
        return ingest(body, form.get(self.protocol, "openai-chat"))

    @property
    def call_count(self) -> int:
        """How many calls the request holds: Kimi numbers its ids by this."""
        messages = self.body.get("messages")
        if self.protocol != "chat" or not isinstance(messages, list):
            return 0
        return sum(len(message.get("tool_calls") or ()) for message in messages if isinstance(message, dict))

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that may be called."""
        return tuple(tool.name for tool in self.history.tools if tool.is_function)

    @property
    def may_call(self) -> bool:
        """Whether the request allows calls. Converse has no word for that, so it is said in text."""
        if self.protocol == "converse":
            usable = any(tool.description != STUB_DESCRIPTION for tool in self.history.tools)
            return usable and NO_CALLS not in str(self.body.get("messages", [])[-1:])
        choice = self.body.get("tool_choice")
        config = self.body.get("toolConfig") or {}
        mode = (config.get("functionCallingConfig") or {}).get("mode") if isinstance(config, Mapping) else ""
        kind = choice.get("type") if isinstance(choice, Mapping) else choice
        return bool(self.tools) and kind not in ("none", "NONE") and mode != "NONE"  # "NONE" is Cohere's

    @property
    def user(self) -> str:
        """The last text of the user."""
        turns = [turn for turn in self.history.turns if isinstance(turn, UserTurn)]
        return joined_text(turns[-1].blocks) if turns else ""

    @cached_property
    def results(self) -> tuple[tuple[str, dict[str, Any], Outcome], ...]:
        """The calls since then, with their arguments and outcomes."""
        found: list[tuple[str, dict[str, Any], Outcome]] = []
        for turn in reversed(self.history.turns):
            if isinstance(turn, UserTurn):
                break
            if isinstance(turn, ModelTurn):
                found[:0] = self._settled_calls(turn)
        return tuple(found)

    def _settled_calls(self, turn: ModelTurn) -> list[tuple[str, dict[str, Any], Outcome]]:
        outcomes = {call.id: self.history.interaction(call.id).outcome for call in turn.tool_calls}
        return [
            (call.name, call.arguments, outcome)
            for call in turn.tool_calls
            if (outcome := outcomes[call.id]) is not None
        ]


def parse_body(body: bytes) -> Any:
    """The body as a value; None where it is not JSON."""
    try:
        return loads(body)
    except (ValueError, RecursionError):
        return None
