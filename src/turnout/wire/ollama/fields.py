"""The fields around the messages of a request to Ollama: options of the model, thinking, format, tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ids import IdProjection
from ...model import ToolSpec
from ..options import Options
from ..request import Setting
from ..shared.added_fields import merge_fields, with_added_fields
from ..shared.growing_bytes import Wire
from ..shared.limits import nearest_effort, token_limit
from ..shared.offered_tools import Declarations, Offer, is_forced, offered_tools
from ..shared.schema import project_schema
from .dialect import OllamaDialect

EFFORTS = ("low", "medium", "high")
MISSING = ("user", "metadata", "service_tier", "cache_key", "cache_ttl", "verbosity", "budget", "parallel")
"""Options that this API does not have."""


class OllamaFields:
    """The fields of requests to one target."""

    def __init__(self, dialect: OllamaDialect, setting: Setting, ids: IdProjection) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self._declarations = Declarations(self._tools)

    def of(self, tools: Sequence[ToolSpec], options: Options, changes: list[str]) -> Wire:
        # Ollama streams unless it is told not to.
        fields: Wire = {"model": self.setting.model, "stream": bool(options.stream)}
        fields["options"] = self._model_options(options, changes)
        if (think := self._thinking_level(options, changes)) is not None:
            fields["think"] = think
        if options.schema is not None:
            fields["format"] = options.schema
        elif options.json:
            fields["format"] = "json"
        if options.logprobs is not None:
            fields["logprobs"] = True
            fields |= {"top_logprobs": options.logprobs} if options.logprobs else {}
        self._add_tools(fields, tools, options, changes)
        for name in (*MISSING, "schema_name", "schema_description", "schema_strict"):
            if getattr(options, name) is not None:
                changes.append(f"{name} {getattr(options, name)} left out: this API does not have it")
        return with_added_fields(fields, self.dialect.extra_body, options, changes)

    def _model_options(self, options: Options, changes: list[str]) -> Wire:
        given: Wire = {
            # The server silently cuts a longer conversation, so it is told the window we count with.
            "num_ctx": self.setting.facts.window or None,
            "num_predict": token_limit(options, self.setting.facts, changes),
            "temperature": options.temperature,
            "top_p": options.top_p,
            "top_k": options.top_k,
            "seed": options.seed,
            "stop": list(options.stop) or None,
            "frequency_penalty": options.frequency_penalty,
            "presence_penalty": options.presence_penalty,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _thinking_level(self, options: Options, changes: list[str]) -> bool | str | None:
        """Whether to think: models with levels take one, and a model without thinking refuses `true`."""
        facts = self.setting.facts
        if options.thinking is False or options.effort == "none":
            return False
        if not options.thinking and options.effort is None:
            return None
        if facts.known and not facts.thinking:
            changes.append(f"thinking left out: {self.setting.model} does not think")
            return None
        if options.effort is None or not facts.efforts:
            if options.effort is not None:
                changes.append(f"effort left out: {self.setting.model} only switches thinking on or off")
            return True
        return nearest_effort(options.effort, EFFORTS, changes)

    def _add_tools(
        self, fields: Wire, tools: Sequence[ToolSpec], options: Options, changes: list[str]
    ) -> None:
        # Calls in the history need no declaration here, so there are no stubs. No limit on tools is known.
        offer = offered_tools(tools, (), options, self.ids, changes, limit=len(tools))
        if offer.choice == "none" and offer.tools:
            changes.append("tools left out: tool_choice is none, and this API has no such choice")
            return
        if offer.choice == "auto":
            changes.append("tool_choice auto left out: it is what this API does")
        if is_forced(offer.choice):
            changes.append(f"tool_choice {offer.choice} sent as auto: this API cannot force a call")
        if offer.tools:
            fields["tools"] = self._declarations.of(offer, options, changes)

    def _tools(self, offer: Offer, options: Options, changes: list[str]) -> list[Wire]:
        return [self._tool(tool, offer.names[tool.name], options, changes) for tool in offer.tools]

    def _tool(self, tool: ToolSpec, name: str, options: Options, changes: list[str]) -> Wire:
        if tool.declaration is not None:
            return tool.declaration
        if options.strict or tool.strict:
            changes.append(f"tool {tool.name}: strict left out: this API does not have it")
        function: Wire = {"name": name, "parameters": _with_objects(project_schema(tool, "plain", changes))}
        if tool.description:
            function["description"] = tool.description
        return merge_fields({"type": "function", "function": function}, tool.beside)


def _with_objects(schema: Wire) -> Wire:
    """Ollama reads each property as an object: `true` and `false` are schemas that it cannot read."""
    listed: Any = schema.get("properties")
    if not isinstance(listed, dict) or all(isinstance(each, dict) for each in listed.values()):
        return schema
    made = {name: each if isinstance(each, dict) else {} for name, each in listed.items()}
    return {**schema, "properties": made}
