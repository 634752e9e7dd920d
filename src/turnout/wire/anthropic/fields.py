"""The fields around the messages of a Messages request: limits, thinking, tools, cache markers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...errors import UsageError
from ...ids import IdProjection
from ...model import ToolSpec
from ..options import Options
from ..request import Setting
from ..shared.added_fields import merge_fields, private_fields, with_added_fields
from ..shared.growing_bytes import Wire
from ..shared.limits import service_tier, token_limit
from ..shared.offered_tools import Declarations, Offer, is_forced, offered_tools
from ..shared.open_loop import Loop
from ..shared.schema import project_schema
from ..shared.strict import Freedom, strict_answer, strict_schema
from ..shared.tool_fields import with_tool_fields
from .betas import betas
from .dialect import AnthropicDialect
from .thinking import DEFAULT_MAX_TOKENS, accepted_sampling, add_thinking

MAX_TOOLS = 512
MARKER = {"type": "ephemeral"}
TTLS = ("5m", "1h")
SERVICE_TIERS = ("auto", "standard_only")


class AnthropicFields:
    """The fields of requests to one target."""

    def __init__(self, dialect: AnthropicDialect, setting: Setting, ids: IdProjection) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self._declarations = Declarations(self._tools)

    def of(
        self,
        loop: Loop,
        called: Iterable[str],
        system: str,
        tools: Sequence[ToolSpec],
        options: Options,
        changes: list[str],
    ) -> Wire:
        """`loop` is the tool loop that may be open, `called` the tools that the history calls."""
        facts = self.setting.facts
        fields: Wire = {"model": self.setting.model} if self.dialect.names_model else {}
        offer = offered_tools(tools, called, options, self.ids, changes, limit=MAX_TOOLS)
        if is_forced(offer.choice) and not facts.forced_tools:
            raise UsageError(f"{self.setting.model} cannot be forced to call a tool; use tool_choice='auto'")
        limit = token_limit(options, facts, changes)
        # The one API that requires a limit; above the model's own it is a 400.
        fields["max_tokens"] = min(DEFAULT_MAX_TOKENS, facts.output) if limit is None else limit
        add_thinking(fields, self.setting, loop, offer.choice, options, changes)
        self._add_sampling(fields, options, changes)
        self._add_head(fields, system, offer, options, changes)
        if offer.tools:
            self._add_choice(fields, offer, options)
        elif options.parallel is not None or options.tool_choice is not None:
            changes.append("parallel and tool_choice left out: there are no tools")
        if options.schema is not None:
            answer = strict_answer(options, "anthropic", changes)
            fields.setdefault("output_config", {})["format"] = {
                "type": "json_schema",
                "schema": answer["schema"],
            }
            for name in ("schema_name", "schema_description"):
                if getattr(options, name):
                    changes.append(f"{name} left out: this API does not have it")
        elif options.json:
            changes.append("json left out: this API takes only a schema of the answer")
        if options.stream and not self.dialect.streams_by_path:
            fields["stream"] = True
        self._add_service(fields, options, changes)
        if self.dialect.betas_in_body and (wanted := betas(offer.tools, private_fields(options))):
            fields["anthropic_beta"] = wanted
        return with_added_fields(
            with_tool_fields(fields, offer.tools), self.dialect.extra_body, options, changes
        )

    def _add_sampling(self, fields: Wire, options: Options, changes: list[str]) -> None:
        given = {"temperature": options.temperature, "top_p": options.top_p, "top_k": options.top_k}
        given = {name: value for name, value in given.items() if value is not None}
        # OpenAI's scale ends at 2, this one at 1; a conversation that moves brings its temperature along.
        if options.temperature is not None and options.temperature > 1:
            given["temperature"] = 1.0
            changes.append(f"temperature {options.temperature} sent as 1: this API takes 0 to 1")
        fields.update(accepted_sampling(given, fields, self.setting, changes))
        if options.stop:
            fields["stop_sequences"] = list(options.stop)
        for name in ("seed", "frequency_penalty", "presence_penalty", "logprobs", "verbosity"):
            if getattr(options, name) is not None:
                changes.append(f"{name} left out: this API does not have it")

    def _add_service(self, fields: Wire, options: Options, changes: list[str]) -> None:
        """The user, and the service tier."""
        if options.user is not None:
            fields["metadata"] = {"user_id": options.user}
        for name in ("metadata", "cache_key"):
            if getattr(options, name):
                changes.append(f"{name} left out: this API does not have it")
        if tier := service_tier(options, SERVICE_TIERS, changes):
            fields["service_tier"] = tier

    def _add_head(
        self, fields: Wire, system: str, offer: Offer, options: Options, changes: list[str]
    ) -> None:
        """System text and tools, each with one cache marker, and the marker for the messages."""
        caches = options.cache and self.dialect.caching
        if system.strip():
            text = {"type": "text", "text": system, "cache_control": _marker(options)}
            fields["system"] = [text] if caches and options.caches("system") else system
        if offer.tools:
            fields["tools"] = self._declarations.of(offer, options, changes)
        if options.caches("messages") and self.dialect.caching == "automatic":
            fields["cache_control"] = _marker(options)
        if options.cache_ttl is not None and not (
            caches and _marker(options).get("ttl") == options.cache_ttl
        ):
            changes.append(f"cache_ttl {options.cache_ttl} left out: a prompt is kept for 5m or 1h here")

    def _tools(self, offer: Offer, options: Options, changes: list[str]) -> list[Wire]:
        freedom = Freedom()
        wires = [self._tool(tool, offer.names[tool.name], freedom, options, changes) for tool in offer.tools]
        # A tool with defer_loading is not part of the cached prompt, so the marker goes on another one.
        marked = [at for at, wire in enumerate(wires) if not wire.get("defer_loading")]
        if options.caches("tools") and self.dialect.caching and marked:
            wires[marked[-1]]["cache_control"] = _marker(options)
        return wires

    def _tool(
        self, tool: ToolSpec, name: str, freedom: Freedom, options: Options, changes: list[str]
    ) -> Wire:
        if tool.declaration is not None:
            return _without_marker(tool.declaration)
        lines: list[str] = []
        wanted = (options.strict or tool.strict) and self.dialect.takes_strict
        if tool.strict and not self.dialect.takes_strict:
            changes.append(f"tool {tool.name}: strict left out: {self.setting.model} does not take it here")
        schema = strict_schema(tool, "anthropic", lines) if wanted else None
        if schema is not None and not freedom.takes(schema):
            lines = [f"ANT-09 strict left out of {tool.name}: too many optional parameters or unions"]
            schema = None
        changes += lines
        wire: Wire = {
            "name": name,
            "input_schema": project_schema(tool, "anthropic", changes) if schema is None else schema,
        }
        if tool.description:
            wire["description"] = tool.description
        if schema is not None:
            wire["strict"] = True
        return merge_fields(wire, _without_marker(tool.beside))

    def _add_choice(self, fields: Wire, offer: Offer, options: Options) -> None:
        choice = offer.choice
        wire: Wire = {}
        if choice in ("auto", "none"):
            wire = {"type": choice}
        elif choice == "required":
            wire = {"type": "any"}
        elif choice:
            wire = {"type": "tool", "name": offer.names[choice]}
        # The switch lives inside the choice, and a choice of "none" has no such field.
        if options.parallel is False and choice != "none":
            wire = {**(wire or {"type": "auto"}), "disable_parallel_tool_use": True}
        if wire:
            fields["tool_choice"] = wire


def _marker(options: Options) -> Wire:
    return {**MARKER, "ttl": options.cache_ttl} if options.cache_ttl in TTLS else MARKER


def _without_marker(wire: Wire) -> Wire:
    """Without its cache marker: ANT-14 allows four, and ours stand elsewhere."""
    return {key: value for key, value in wire.items() if key != "cache_control"}
