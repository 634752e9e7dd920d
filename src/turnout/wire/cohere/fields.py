"""The fields around the messages of a request to Cohere: sampling, thinking, format, tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...ids import IdProjection
from ...model import ToolSpec
from ..options import Options
from ..request import Setting
from ..shared.added_fields import merge_fields, with_added_fields
from ..shared.growing_bytes import Wire
from ..shared.limits import stop_words, temperature, token_limit
from ..shared.offered_tools import Declarations, Offer, is_forced, offered_tools
from ..shared.schema import project_schema
from .dialect import CohereDialect

MAX_STOPS = 5
MAX_TEMPERATURE = 1.0
RANGES = {"p": (0.01, 0.99), "k": (0, 500), "frequency_penalty": (0.0, 1.0), "presence_penalty": (0.0, 1.0)}
"""What the reference gives as the ranges of these fields."""
MISSING = ("user", "metadata", "service_tier", "cache_key", "cache_ttl", "verbosity", "parallel", "effort")
"""Options that this API does not have."""


class CohereFields:
    """The fields of requests to one target."""

    def __init__(self, dialect: CohereDialect, setting: Setting, ids: IdProjection) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self._declarations = Declarations(self._tools)

    def of(
        self, called: Iterable[str], tools: Sequence[ToolSpec], options: Options, changes: list[str]
    ) -> Wire:
        """`called` are the tools that the history calls."""
        fields: Wire = {"model": self.setting.model, "stream": bool(options.stream)}
        self._add_sampling(fields, options, changes)
        self._add_thinking(fields, options, changes)
        offer = offered_tools(tools, called, options, self.ids, changes)
        self._add_tools(fields, offer, options, changes)
        self._add_format(fields, options, changes)
        for name in (*MISSING, "schema_name", "schema_description", "schema_strict"):
            if getattr(options, name) is not None and (name != "effort" or "thinking" not in fields):
                changes.append(f"{name} {getattr(options, name)} left out: this API does not have it")
        return with_added_fields(fields, self.dialect.extra_body, options, changes)

    def _add_sampling(self, fields: Wire, options: Options, changes: list[str]) -> None:
        given: Wire = {
            "max_tokens": token_limit(options, self.setting.facts, changes),
            "temperature": temperature(options, changes, MAX_TEMPERATURE),
            "seed": options.seed,
            "stop_sequences": stop_words(options, MAX_STOPS, changes) or None,
            "logprobs": None if options.logprobs is None else True,
        }
        ranged = {"p": options.top_p, "k": options.top_k}
        ranged |= {name: getattr(options, name) for name in ("frequency_penalty", "presence_penalty")}
        for name, value in ranged.items():
            if value is not None:
                least, most = RANGES[name]
                given[name] = min(max(value, least), most)
                if given[name] != value:
                    changes.append(f"{name} {value} sent as {given[name]}: this API takes {least} to {most}")
        if options.logprobs:
            changes.append("logprobs: alternatives left out: this API gives only the chosen tokens")
        fields |= {name: value for name, value in given.items() if value is not None}

    def _add_thinking(self, fields: Wire, options: Options, changes: list[str]) -> None:
        if options.thinking is None and options.effort is None and options.budget is None:
            return
        if not self.setting.facts.thinking:
            changes.append(f"thinking left out: {self.setting.model} does not think")
            return
        if options.thinking is False or options.effort == "none":
            fields["thinking"] = {"type": "disabled"}
            return
        budget = {} if options.budget is None else {"token_budget": options.budget}
        fields["thinking"] = {"type": "enabled", **budget}
        if options.effort is not None:
            changes.append(f"effort {options.effort} left out: this API takes a budget of tokens")

    def _add_tools(self, fields: Wire, offer: Offer, options: Options, changes: list[str]) -> None:
        if offer.tools:
            fields["tools"] = self._declarations.of(offer, options, changes)
        elif options.tool_choice is not None:
            changes.append("tool_choice left out: there are no tools")
        if offer.choice == "auto" and offer.tools:
            changes.append("tool_choice auto left out: it is what this API does")
        if offer.choice in ("", "auto") or not offer.tools:
            return
        if not self.dialect.takes_choice:
            changes.append(f"tool_choice {offer.choice} left out: {self.setting.model} does not take it")
            return
        fields["tool_choice"] = "NONE" if offer.choice == "none" else "REQUIRED"
        if is_forced(offer.choice) and offer.choice != "required":
            changes.append(f"tool_choice {offer.choice} sent as REQUIRED: this API cannot name a tool")

    def _add_format(self, fields: Wire, options: Options, changes: list[str]) -> None:
        if options.schema is None and not options.json:
            return
        if "tools" in fields:
            changes.append("schema and json left out: this API refuses a format where tools are declared")
            return
        schema = {} if options.schema is None else {"json_schema": options.schema}
        fields["response_format"] = {"type": "json_object", **schema}

    def _tools(self, offer: Offer, options: Options, changes: list[str]) -> list[Wire]:
        return [self._tool(tool, offer.names[tool.name], options, changes) for tool in offer.tools]

    def _tool(self, tool: ToolSpec, name: str, options: Options, changes: list[str]) -> Wire:
        if tool.declaration is not None:
            return tool.declaration
        if options.strict or tool.strict:
            changes.append(f"tool {tool.name}: strict left out: this API has it only for all tools at once")
        function: Wire = {"name": name, "parameters": project_schema(tool, "openai", changes)}
        if tool.description:
            function["description"] = tool.description
        return merge_fields({"type": "function", "function": function}, tool.beside)
