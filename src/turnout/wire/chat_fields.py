"""What stands around the messages of a Chat Completions request: limits, thinking, tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import UsageError
from ..ids import IdProjection
from ..model import ToolSpec
from .chat_dialect import ChatDialect
from .limits import nearest_effort, stop_words, token_limit
from .loop import Loop
from .offer import Declarations, Offer, is_forced, offered_tools
from .protocol import Options, Setting
from .roll import Wire
from .schema import project_schema
from .strict import strict_answer, strict_schema


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
        """`loop` is the tool loop that may be open, `called` the tools that the history knows."""
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
        if options.stream:
            fields["stream"] = True
            if self.dialect.stream_usage:
                fields["stream_options"] = {"include_usage": True}
        return {**fields, **self.dialect.extra_body, **options.extra}

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
        if options.top_k is not None:
            changes.append("top_k left out: this API does not have it")
        if options.stop and self.setting.facts.thinking == ("effort",) and not self.setting.facts.sampling:
            changes.append(f"stop left out: {self.setting.model} does not take it")
        elif options.stop:
            fields["stop"] = stop_words(options, self.dialect.max_stops, changes)
        if options.seed is not None:
            fields[self.dialect.seed_field] = options.seed

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
        switch = self._switch(thinks, options, changes)
        fields.update(switch)
        if options.thinking is False and not self.dialect.stops_thinking:
            changes.append(f"thinking stays on: {self.setting.model} cannot be told not to think")
        elif options.thinking and thinks and not switch and not self.dialect.thinks_unasked:
            changes.append(f"thinking left out: {self.setting.model} has no switch for it here")
        if options.effort not in (None, "none") and not {"reasoning_effort", "reasoning"} & set(switch):
            changes.append(f"effort left out: {self.setting.model} knows no degrees of thinking here")

    def _may_think(self, loop: Loop, choice: str, options: Options, changes: list[str]) -> bool:
        """Whether this request can be thought about; if not, why."""
        if is_forced(choice) and not self.dialect.forces_while_thinking:
            if not self.dialect.stops_thinking:
                raise UsageError(
                    f"{self.setting.model} always thinks and cannot be forced to call a tool; "
                    "use tool_choice='auto'"
                )
            changes.append("thinking switched off: this API takes no forced tool choice while it thinks")
            return False
        if self.dialect.unreasoned_calls == "off" and loop.open and not loop.thinks:
            changes.append("ORT-02 thinking switched off: the open tool loop began without it")
            return False
        if self.dialect.thinking_needs_stream and not options.stream:
            changes.append("QWN-03 thinking switched off: it needs a streamed answer")
            return False
        return True

    def _switch(self, thinks: bool, options: Options, changes: list[str]) -> Wire:
        """The fields that turn thinking on or off, in this server's words."""
        if options.thinking is None and thinks == self.dialect.thinks_unasked:
            return {}  # nothing was asked, and the server's own default is what we want
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
                return {"enable_thinking": thinks}
            case "reasoning" if not thinks:
                return {"reasoning": {"enabled": False}}
            case "reasoning":
                effort = nearest_effort(options.effort or "medium", self.dialect.efforts, changes)
                return {"reasoning": {"effort": effort}}
            case _:
                return {}

    def _tools(self, offer: Offer, options: Options, changes: list[str]) -> list[Wire]:
        return [self._tool(tool, offer.names[tool.name], options, changes) for tool in offer.tools]

    def _tool(self, tool: ToolSpec, name: str, options: Options, changes: list[str]) -> Wire:
        strict = (
            strict_schema(tool, "openai", changes) if options.strict and self.dialect.strict_tools else None
        )
        schema = project_schema(tool, self.dialect.schema, changes) if strict is None else strict
        function: Wire = {"name": name, "parameters": schema}
        if tool.description:
            function["description"] = tool.description
        if strict is not None:
            function["strict"] = True
        return {"type": "function", "function": function}

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
        elif options.parallel is not None:
            changes.append(f"parallel left out: {self.setting.origin.provider} has no switch for it")
