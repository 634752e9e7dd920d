"""The fields around the input of a Responses request: limits, reasoning, tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...ids import IdProjection
from ...model import ToolSpec
from ..options import Options
from ..request import Setting
from ..shared.added_fields import merge_fields, with_added_fields
from ..shared.growing_bytes import Wire
from ..shared.limits import (
    OPENAI_TIERS,
    nearest_effort,
    openai_cache_ttl,
    service_tier,
    temperature,
    token_limit,
)
from ..shared.offered_tools import Declarations, Offer, kept_declaration, offered_tools
from ..shared.schema import project_schema
from ..shared.strict import strict_answer, strict_schema
from ..shared.tool_fields import with_tool_fields
from .dialect import ResponsesDialect


class ResponsesFields:
    """The fields of requests to one target."""

    def __init__(self, dialect: ResponsesDialect, setting: Setting, ids: IdProjection) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self._declarations = Declarations(self._tools)

    def of(
        self,
        called: Iterable[str],
        system: str,
        tools: Sequence[ToolSpec],
        options: Options,
        changes: list[str],
    ) -> Wire:
        """`called` are the tools that the history calls."""
        facts = self.setting.facts
        fields: Wire = {"model": self.setting.model, "store": options.chain and self.dialect.stores}
        offer = offered_tools(tools, called, options, self.ids, changes)
        if system.strip():
            fields["instructions"] = system
        if facts.efforts:
            fields["include"] = ["reasoning.encrypted_content"]
        self._add_limits(fields, options, changes)
        if offer.tools:
            fields["tools"] = self._declarations.of(offer, options, changes)
            self._add_choice(fields, offer, options)
        elif options.parallel is not None or options.tool_choice is not None:
            changes.append("parallel and tool_choice left out: there are no tools")
        if options.schema is not None:
            answer = strict_answer(options, "openai", changes)
            fields["text"] = {"format": {"type": "json_schema", **answer}}
        elif options.json:
            fields["text"] = {"format": {"type": "json_object"}}
        self._add_service(fields, options, changes)
        if options.stream:
            fields["stream"] = True
        return with_added_fields(
            with_tool_fields(fields, offer.tools), self.dialect.extra_body, options, changes
        )

    def _add_limits(self, fields: Wire, options: Options, changes: list[str]) -> None:
        facts = self.setting.facts
        if (limit := token_limit(options, facts, changes, least=16)) is not None:
            fields["max_output_tokens"] = limit
        given = {"temperature": temperature(options, changes), "top_p": options.top_p}
        given = {name: value for name, value in given.items() if value is not None}
        if given and not facts.sampling:
            changes.append(f"{', '.join(given)} left out: {self.setting.model} does not take it")
            given = {}
        fields.update(given)
        if options.thinking is not None or options.effort is not None:
            self._add_reasoning(fields, options, changes)
        for name in ("top_k", "seed", "stop", "frequency_penalty", "presence_penalty", "budget"):
            if getattr(options, name) not in (None, ()):
                changes.append(f"{name} left out: this API does not have it")
        if options.logprobs is not None and not facts.sampling:
            changes.append(f"logprobs left out: {self.setting.model} does not take it")
        elif options.logprobs is not None:
            fields.setdefault("include", []).append("message.output_text.logprobs")
            fields |= {"top_logprobs": options.logprobs} if options.logprobs else {}

    def _add_service(self, fields: Wire, options: Options, changes: list[str]) -> None:
        """The user, metadata, cache, verbosity and service tier."""
        given = {"user": options.user, "metadata": options.metadata, "prompt_cache_key": options.cache_key}
        fields.update({name: value for name, value in given.items() if value})
        if tier := service_tier(options, OPENAI_TIERS, changes):
            fields["service_tier"] = tier
        if options.verbosity is not None and self.setting.facts.verbosity:
            fields["text"] = {**fields.get("text", {}), "verbosity": options.verbosity}
        elif options.verbosity is not None:
            changes.append(f"verbosity left out: {self.setting.model} does not take it")
        fields |= openai_cache_ttl(options, changes)

    def _add_reasoning(self, fields: Wire, options: Options, changes: list[str]) -> None:
        efforts = self.setting.facts.efforts
        if not efforts:
            if options.thinking or options.effort:
                changes.append(f"thinking left out: {self.setting.model} does not think")
            return
        wanted = "none" if options.thinking is False else options.effort or "medium"
        fields["reasoning"] = {"effort": nearest_effort(wanted, efforts, changes)}
        if options.thinking:
            fields["reasoning"]["summary"] = "auto"

    def _tools(self, offer: Offer, options: Options, changes: list[str]) -> list[Wire]:
        """The tools in their order. Tools of one namespace stand together inside it."""
        wires: list[Wire] = []
        spaces: dict[str, Wire] = {}
        for tool in offer.tools:
            wire = self._tool(tool, offer.names[tool.name], options, changes)
            if not (space := tool.namespace):
                wires.append(wire)
                continue
            name = str(space.get("name"))
            if name not in spaces:
                spaces[name] = {**space, "tools": []}
                wires.append(spaces[name])
            spaces[name]["tools"].append({**wire, "name": tool.name.removeprefix(f"{name}.")})
        return wires

    def _tool(self, tool: ToolSpec, name: str, options: Options, changes: list[str]) -> Wire:
        if tool.declaration is not None:
            return kept_declaration(tool, name)
        wanted = options.strict or tool.strict
        strict = strict_schema(tool, "openai", changes) if wanted else None
        wire = {
            "type": "function",
            "name": name,
            "description": tool.description or None,
            "parameters": project_schema(tool, "openai", changes) if strict is None else strict,
            "strict": strict is not None,
        }
        return merge_fields(wire, tool.beside)

    def _add_choice(self, fields: Wire, offer: Offer, options: Options) -> None:
        choice = offer.choice
        kinds = {tool.name: tool.kind for tool in offer.tools if not tool.is_function}
        if choice in ("auto", "none", "required"):
            fields["tool_choice"] = choice
        elif choice in kinds:
            fields["tool_choice"] = {"type": kinds[choice]}
        elif choice:
            fields["tool_choice"] = {"type": "function", "name": offer.names[choice]}
        if options.parallel is not None:
            fields["parallel_tool_calls"] = options.parallel
