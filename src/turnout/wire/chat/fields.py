"""The fields around the messages of a Chat Completions request: limits, thinking, tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import UsageError
from ...ids import IdProjection
from ...model import ToolSpec
from ..options import Options
from ..request import Setting
from ..shared.added_fields import (
    merge_fields,
    private_fields,
    spelled_option,
    with_added_fields,
)
from ..shared.growing_bytes import Wire
from ..shared.limits import nearest_effort, openai_cache_ttl, service_tier, stop_words, token_limit
from ..shared.offered_tools import Declarations, Offer, is_forced, kept_declaration, offered_tools
from ..shared.open_loop import Loop
from ..shared.schema import project_schema
from ..shared.strict import strict_answer, strict_schema
from ..shared.tool_fields import with_tool_fields
from .dialect import ChatDialect

SAMPLING = ("top_k", "frequency_penalty", "presence_penalty", "logprobs")


class ChatFields:
    """The fields of requests to one target, in its dialect."""

    def __init__(self, dialect: ChatDialect, setting: Setting, ids: IdProjection, thinks: bool) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self._thinks = thinks
        self._declarations = Declarations(self._tools)

    def of(
        self,
        loop: Loop,
        called: Iterable[str],
        tools: Sequence[ToolSpec],
        options: Options,
        changes: list[str],
    ) -> Wire:
        """`loop` is the tool loop that may be open, `called` the tools that the history calls."""
        fields: Wire = {"model": self.setting.model}
        offer = offered_tools(tools, called, options, self.ids, changes)
        self._add_limits(fields, options, changes)
        self._add_thinking(fields, loop, offer, options, changes)
        if offer.tools:
            fields["tools"] = self._declarations.of(offer, options, changes)
            self._add_choice(fields, offer, options, changes)
        elif options.parallel is not None or options.tool_choice is not None:
            changes.append("parallel and tool_choice left out: there are no tools")
        if options.schema is not None:
            answer = strict_answer(options, "openai", changes)
            fields["response_format"] = {"type": "json_schema", "json_schema": answer}
        elif options.json:
            fields["response_format"] = {"type": "json_object"}
        self._add_service(fields, options, changes)
        if options.stream:
            fields["stream"] = True
            if self.dialect.stream_usage:
                fields["stream_options"] = {"include_usage": True}
        made = with_added_fields(
            with_tool_fields(fields, offer.tools), self.dialect.extra_body, options, changes
        )
        if "tools" in made:
            for name in sorted(set(made).intersection(self.dialect.not_with_tools).difference(options.extra)):
                changes.append(f"{name} left out: this server refuses it where tools are declared")
                del made[name]
        return made

    def _add_limits(self, fields: Wire, options: Options, changes: list[str]) -> None:
        if (limit := token_limit(options, self.setting.facts, changes)) is not None:
            fields[self.dialect.max_tokens_field] = limit
        sampling = {"temperature": options.temperature, "top_p": options.top_p}
        given = {name: value for name, value in sampling.items() if value is not None}
        if given and (self.dialect.pins_sampling or not self.setting.facts.sampling):
            changes.append(f"{', '.join(given)} left out: {self.setting.model} does not take it")
            given = {}
        if given.get("temperature", 0) > self.dialect.max_temperature:
            given["temperature"] = self.dialect.max_temperature
            changes.append(f"temperature {options.temperature} sent as {self.dialect.max_temperature}")
        fields.update(given)
        for name in ("top_k", "frequency_penalty", "presence_penalty"):
            value = getattr(options, name)
            self._add_option(fields, name, value, {name: value}, options, changes)
        alternatives = {"top_logprobs": options.logprobs} if options.logprobs else {}
        wire = {"logprobs": True, **alternatives}
        self._add_option(fields, "logprobs", options.logprobs, wire, options, changes)
        if options.stop and self.setting.facts.thinking == ("effort",) and not self.setting.facts.sampling:
            changes.append(f"stop left out: {self.setting.model} does not take it")
        elif options.stop:
            fields["stop"] = stop_words(options, self.dialect.max_stops, changes)
        if options.seed is not None:
            fields[self.dialect.seed_field] = options.seed

    def _add_option(
        self, fields: Wire, name: str, value: Any, wire: Wire, options: Options, changes: list[str]
    ) -> None:
        """An option that not all servers have: in the usual field, or as the request wrote it."""
        if value is None:
            return
        facts = self.setting.facts
        pinned = name in SAMPLING and (self.dialect.pins_sampling or not facts.sampling)
        unheard = name == "verbosity" and not facts.verbosity
        if name in self.dialect.takes and not pinned and not unheard:
            fields.update(wire)
        elif spelled := self._spelled_fields(name, options):
            fields.update(spelled)
        else:
            changes.append(f"{name} left out: {self.setting.model} does not take it here")

    def _spelled_fields(self, name: str, options: Options) -> Wire:
        """An option as the request for this model wrote it, if the server ignores unknown fields."""
        spelled = spelled_option(options, name, self.setting.model)
        is_known = not self.dialect.refuses_unknown or set(spelled) <= set(self.dialect.also_knows)
        return spelled if is_known else {}

    def _add_service(self, fields: Wire, options: Options, changes: list[str]) -> None:
        """The user, metadata, cache and service tier."""
        unstored = self.dialect.metadata_needs_store and not private_fields(options).get("store")
        if options.metadata and unstored:
            changes.append("metadata left out: this API keeps it only with answers that it stores")
        wanted: dict[str, tuple[Any, str]] = {
            "user": (options.user, "user"),
            "metadata": (None if unstored else options.metadata, "metadata"),
            "verbosity": (options.verbosity, "verbosity"),
            "cache_key": (options.cache_key, "prompt_cache_key"),
        }
        for name, (value, wire) in wanted.items():
            self._add_option(fields, name, value, {wire: value}, options, changes)
        kept = openai_cache_ttl(options, changes) if "cache_ttl" in self.dialect.takes else {}
        self._add_option(fields, "cache_ttl", options.cache_ttl, kept, options, changes)
        tiers = self._spelled_fields("service_tier", options).values()
        if tier := service_tier(options, (*self.dialect.service_tiers, *tiers), changes):
            fields["service_tier"] = tier

    def _add_thinking(
        self,
        fields: Wire,
        loop: Loop,
        offer: Offer,
        options: Options,
        changes: list[str],
    ) -> None:
        if self.setting.facts.chat_tools == "no_reasoning" and offer.tools:
            fields["reasoning_effort"] = "none"
            changes.append(
                f"OAC-11: {self.setting.model} takes tools here only with reasoning_effort none; "
                "the provider openai-responses keeps its reasoning"
            )
            return
        thinks = self._thinks and self._may_think(loop, offer.choice, options, changes)
        switch = self._switch_fields(thinks, options, changes)
        fields.update(switch)
        if not switch and (spelled := self._spelled_fields("thinking", options)):
            fields.update(spelled)
            return
        if options.thinking is False and not switch and self._may_think_unasked():
            changes.append(f"thinking is unchanged: {self.setting.model} has no switch for it here")
        elif options.thinking is False and not self.dialect.stops_thinking:
            changes.append(f"thinking stays on: {self.setting.model} cannot switch it off")
        elif options.thinking and thinks and not switch and not self.dialect.thinks_unasked:
            changes.append(f"thinking left out: {self.setting.model} has no switch for it here")
        if options.budget is not None and not {"reasoning", "thinking_budget"} & set(switch):
            changes.append(f"budget left out: {self.setting.model} takes no budget here")
        if options.effort not in (None, "none") and not {"reasoning_effort", "reasoning"} & set(switch):
            changes.append(f"effort left out: {self.setting.model} takes no effort here")

    def _may_think_unasked(self) -> bool:
        """Whether the model may think by default, without a switch to stop it."""
        facts = self.setting.facts
        return self.dialect.thinking_switch == "" and (bool(facts.thinking) or not facts.known)

    def _may_think(self, loop: Loop, choice: str, options: Options, changes: list[str]) -> bool:
        """Whether this request may use thinking; if not, `changes` says why."""
        if is_forced(choice) and not self.dialect.forces_while_thinking:
            if not self.dialect.stops_thinking:
                raise UsageError(
                    f"{self.setting.model} always thinks and cannot be forced to call a tool; "
                    "use tool_choice='auto'"
                )
            changes.append("thinking switched off: the API refuses it with a forced tool choice")
            return False
        if self.dialect.unreasoned_calls == "off" and loop.open and not loop.thinks:
            changes.append("ORT-02 thinking switched off: the open tool loop began without it")
            return False
        if self.dialect.thinking_needs_stream and not options.stream:
            changes.append("QWN-03 thinking switched off: it needs a streamed answer")
            return False
        return True

    def _switch_fields(self, thinks: bool, options: Options, changes: list[str]) -> Wire:
        """The fields that turn thinking on or off, in this server's words."""
        if options.thinking is None and thinks == self.dialect.thinks_unasked:
            return {}  # the server's default is what we want
        match self.dialect.thinking_switch:
            case "effort":
                efforts = self.setting.facts.efforts
                wanted = (options.effort or "medium") if thinks else "none"
                return {"reasoning_effort": nearest_effort(wanted, efforts, changes)} if efforts else {}
            case "type":
                switch: Wire = {"thinking": {"type": "enabled" if thinks else "disabled"}}
                if thinks and options.effort and self.dialect.efforts:
                    effort = nearest_effort(options.effort, self.dialect.efforts, changes)
                    switch["reasoning_effort"] = effort
                return switch if self.dialect.stops_thinking else {}
            case "enable":
                budget = {"thinking_budget": options.budget} if thinks and options.budget is not None else {}
                return {"enable_thinking": thinks, **budget}
            case "reasoning" if not thinks:
                return {"reasoning": {"enabled": False}}
            case "reasoning" if options.budget is not None:
                return {"reasoning": {"max_tokens": options.budget}}
            case "reasoning":
                effort = nearest_effort(options.effort or "medium", self.dialect.efforts, changes)
                return {"reasoning": {"effort": effort}}
            case _:
                return {}

    def _tools(self, offer: Offer, options: Options, changes: list[str]) -> list[Wire]:
        return [self._tool(tool, offer.names[tool.name], options, changes) for tool in offer.tools]

    def _tool(self, tool: ToolSpec, name: str, options: Options, changes: list[str]) -> Wire:
        if tool.declaration is not None:
            return kept_declaration(tool, name)
        wanted = options.strict or tool.strict
        if wanted and not self.dialect.strict_tools:
            changes.append(f"tool {tool.name}: strict left out: {self.setting.model} does not take it")
        strict = strict_schema(tool, "openai", changes) if wanted and self.dialect.strict_tools else None
        schema = project_schema(tool, self.dialect.schema, changes) if strict is None else strict
        function: Wire = {"name": name, "parameters": schema}
        if tool.description:
            function["description"] = tool.description
        if strict is not None:
            function["strict"] = True
        return merge_fields({"type": "function", "function": function}, tool.beside)

    def _add_choice(self, fields: Wire, offer: Offer, options: Options, changes: list[str]) -> None:
        choice = offer.choice
        if choice in ("auto", "none"):
            fields["tool_choice"] = choice
        elif choice == "required":
            fields["tool_choice"] = self.dialect.required_word
        elif choice:
            fields["tool_choice"] = {"type": "function", "function": {"name": offer.names[choice]}}
        if options.parallel is not None and self.dialect.takes_parallel:
            fields["parallel_tool_calls"] = options.parallel
        elif options.parallel is not None and (spelled := self._spelled_fields("parallel", options)):
            fields.update(spelled)
        elif options.parallel is not None:
            changes.append(f"parallel left out: {self.setting.origin.provider} has no switch for it")
