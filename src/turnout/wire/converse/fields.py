"""The fields around the messages of a Converse request: limits, thinking, tools, cache points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import UsageError
from ...ids import IdProjection
from ...model import ToolSpec
from ...plain import dumps
from ..anthropic.thinking import DEFAULT_MAX_TOKENS, accepted_sampling, add_thinking
from ..options import Options
from ..request import Setting
from ..shared.added_fields import merge_fields, with_added_fields
from ..shared.growing_bytes import Wire
from ..shared.limits import nearest_effort, service_tier, stop_words, temperature, token_limit
from ..shared.offered_tools import Declarations, Offer, is_forced, offered_tools
from ..shared.open_loop import Loop
from ..shared.schema import project_schema
from ..shared.strict import strict_answer, strict_schema
from .dialect import ConverseDialect

MAX_TOOLS = 512
MAX_STOPS = 2_500
NOVA_EFFORTS = ("low", "medium", "high")
SERVICE_TIERS = ("priority", "default", "flex", "reserved")
METADATA = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,\-.]{0,256}")
MAX_METADATA = 16
UNKNOWN_OPTIONS = ("seed", "frequency_penalty", "presence_penalty", "logprobs", "verbosity", "user")


def cache_point(options: Options, dialect: ConverseDialect) -> Wire:
    """Where the prompt may be read from the cache up to."""
    ttl = {"ttl": options.cache_ttl} if options.cache_ttl in dialect.ttls else {}
    return {"cachePoint": {"type": "default", **ttl}}


class ConverseFields:
    """The fields of requests to one target."""

    def __init__(self, dialect: ConverseDialect, setting: Setting, ids: IdProjection) -> None:
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
        fields: Wire = {}
        called = list(called)
        offer = offered_tools(tools, called, options, self.ids, changes, limit=MAX_TOOLS)
        if system.strip() and self.dialect.takes_system:
            point = [cache_point(options, self.dialect)] if self._caches("system", options) else []
            fields["system"] = [{"text": system}, *point]
        self._add_tools(fields, offer, bool(called), options, changes)
        additional: Wire = {}
        limit = self._add_thinking(additional, loop, offer.choice, options, changes)
        if config := self._inference(limit, additional, options, changes):
            fields["inferenceConfig"] = config
        if additional:
            fields["additionalModelRequestFields"] = additional
        self._add_answer(fields, options, changes)
        self._add_service(fields, options, changes)
        return with_added_fields(fields, self.dialect.extra_body, options, changes)

    def _caches(self, place: str, options: Options) -> bool:
        return options.caches(place) and place in self.dialect.caching

    # Tools

    def _add_tools(
        self, fields: Wire, offer: Offer, has_calls: bool, options: Options, changes: list[str]
    ) -> None:
        """BDK-03: declared whenever the history has calls; there is no word for "call none of them"."""
        if options.parallel is not None:
            changes.append("parallel left out: this API has no switch for it")
        if not offer.tools:
            if options.tool_choice is not None:
                changes.append("tool_choice left out: there are no tools")
            return
        if offer.choice == "none" and not has_calls:
            named = ", ".join(tool.name for tool in offer.tools)
            changes.append(f"tools left out, since none may be called: {named}")
            return
        config: Wire = {"tools": self._declarations.of(offer, options, changes)}
        if choice := self._tool_choice(offer, changes):
            config["toolChoice"] = choice
        fields["toolConfig"] = config

    def _tools(self, offer: Offer, options: Options, changes: list[str]) -> list[Wire]:
        wires = [self._tool(tool, offer.names[tool.name], options, changes) for tool in offer.tools]
        return [*wires, cache_point(options, self.dialect)] if self._caches("tools", options) else wires

    def _tool(self, tool: ToolSpec, name: str, options: Options, changes: list[str]) -> Wire:
        if tool.declaration is not None:
            return tool.declaration
        strict = None
        if (options.strict or tool.strict) and self.dialect.takes_strict:
            strict = strict_schema(tool, "anthropic", changes)
        elif tool.strict and not options.strict:
            changes.append(f"tool {tool.name}: strict left out: {self.setting.model} does not take it")
        schema = project_schema(tool, "anthropic", changes) if strict is None else strict
        spec: Wire = {"name": name, "inputSchema": {"json": schema}}
        if tool.description.strip():
            spec["description"] = tool.description
        if strict is not None:
            spec["strict"] = True
        return merge_fields({"toolSpec": spec}, tool.beside)

    def _tool_choice(self, offer: Offer, changes: list[str]) -> Wire:
        choice, kinds = offer.choice, self.dialect.choices
        if choice == "auto" and "auto" in kinds:
            return {"auto": {}}
        if not is_forced(choice):
            return {}
        if not self.dialect.forces_tools or not self.setting.facts.forced_tools:
            raise UsageError(f"{self.setting.model} cannot be forced to call a tool; use tool_choice='auto'")
        if choice != "required" and "tool" in kinds:
            return {"tool": {"name": offer.names[choice]}}
        if choice != "required":
            changes.append(
                f"tool_choice {choice} sent as required: {self.setting.model} cannot be told which tool"
            )
        return {"any": {}}

    # Thinking and sampling

    def _add_thinking(
        self, additional: Wire, loop: Loop, choice: str, options: Options, changes: list[str]
    ) -> int | None:
        """Add how the model is asked to think; returns how many tokens it may write."""
        facts = self.setting.facts
        limit = token_limit(options, facts, changes)
        if self.dialect.thinking == "claude":
            usual = min(DEFAULT_MAX_TOKENS, facts.output)
            asked: Wire = {"max_tokens": usual if limit is None else limit}
            add_thinking(asked, self.setting, loop, choice, options, changes)
            most = asked.pop("max_tokens")
            additional.update(asked)
            return most if limit is not None or "budget_tokens" in asked.get("thinking", {}) else None
        efforts = {"nova": NOVA_EFFORTS, "effort": facts.efforts}.get(self.dialect.thinking, ())
        if options.budget is not None:
            changes.append(f"budget left out: {self.setting.model} takes no budget here")
        if options.effort not in (None, "none") and not efforts:
            changes.append(f"effort left out: {self.setting.model} takes no effort here")
        if options.thinking and not efforts:
            changes.append(f"thinking left out: {self.setting.model} is not asked to think")
        elif options.thinking:
            self._add_effort(additional, nearest_effort(options.effort or "medium", efforts, changes))
        return limit

    def _add_effort(self, additional: Wire, effort: str) -> None:
        if self.dialect.thinking == "nova":
            additional["reasoningConfig"] = {"type": "enabled", "maxReasoningEffort": effort}
        else:
            additional["reasoning_effort"] = effort

    def _inference(self, limit: int | None, additional: Wire, options: Options, changes: list[str]) -> Wire:
        given = {
            "temperature": temperature(options, changes, most=1.0),
            "top_p": options.top_p,
            "top_k": options.top_k,
        }
        given = {name: value for name, value in given.items() if value is not None}
        kept = accepted_sampling(given, additional, self.setting, changes)
        self._add_top_k(additional, kept, changes)
        config: Wire = {
            "maxTokens": limit,
            "temperature": kept.get("temperature"),
            "topP": kept.get("top_p"),
            "stopSequences": [word for word in stop_words(options, MAX_STOPS, changes) if word] or None,
        }
        for name in UNKNOWN_OPTIONS:
            if getattr(options, name) is not None:
                changes.append(f"{name} left out: this API does not have it")
        return {name: value for name, value in config.items() if value is not None}

    def _add_top_k(self, additional: Wire, kept: dict[str, Any], changes: list[str]) -> None:
        if "top_k" not in kept:
            return
        if not self.dialect.top_k_field:
            changes.append(f"top_k left out: {self.setting.model} does not take it")
            return
        *above, last = self.dialect.top_k_field.split(".")
        wire: Wire = {last: kept["top_k"]}
        for name in reversed(above):
            wire = {name: wire}
        additional.update(merge_fields(additional, wire))

    # The answer, and the service

    def _add_answer(self, fields: Wire, options: Options, changes: list[str]) -> None:
        if options.json:
            changes.append("json left out: this API takes only a schema of the answer")
        if options.schema is None:
            return
        if not self.dialect.takes_strict:
            changes.append(f"schema left out: {self.setting.model} does not take one")
            return
        answer = strict_answer(options, "anthropic", changes)
        structure: Wire = {"schema": dumps(answer["schema"])}
        if options.schema_name:
            structure["name"] = options.schema_name
        if options.schema_description:
            structure["description"] = options.schema_description
        fields["outputConfig"] = {
            "textFormat": {"type": "json_schema", "structure": {"jsonSchema": structure}}
        }

    def _add_service(self, fields: Wire, options: Options, changes: list[str]) -> None:
        if tier := service_tier(options, SERVICE_TIERS, changes):
            fields["serviceTier"] = {"type": tier}
        if options.metadata:
            fits = {
                name: value
                for name, value in list(options.metadata.items())[:MAX_METADATA]
                if name and METADATA.fullmatch(name) and METADATA.fullmatch(value)
            }
            if fits != options.metadata:
                lost = ", ".join(name for name in options.metadata if name not in fits)
                changes.append(f"metadata {lost} left out: Converse takes {MAX_METADATA} short entries")
            if fits:
                fields["requestMetadata"] = fits
        if unmarked := [place for place in options.cache_places or () if place not in self.dialect.caching]:
            changes.append(
                f"cache_places {', '.join(unmarked)} left out: {self.setting.model} caches nothing there"
            )
        if options.cache_key:
            changes.append("cache_key left out: this API does not have it")
        if options.cache_ttl is not None and not (
            options.cache and self.dialect.caching and options.cache_ttl in self.dialect.ttls
        ):
            changes.append(f"cache_ttl {options.cache_ttl} left out: {self.setting.model} does not take it")
