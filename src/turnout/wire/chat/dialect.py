"""How a server differs from OpenAI's own Chat Completions: a record of named differences."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..dialect import Dialect
from ..shared.schema import SchemaStyle

USUAL_OPTIONS = ("frequency_penalty", "presence_penalty", "logprobs", "user")


class ChatDialect(Dialect, frozen=True, kw_only=True):
    """How a server differs from OpenAI's own Chat Completions."""

    api: ClassVar[str] = "chat"

    schema: SchemaStyle = "openai"
    system_role: Literal["system", "developer", "user"] = "system"
    system_anywhere: bool = True  # system text in mid conversation; else it is said as the user
    starts_with_user: bool = True
    alternates: bool = False  # neighbours of one role are joined: chat templates insist on it
    calls_alone: bool = False  # words beside calls go in a message of their own, before them
    text_parts: bool = True  # several texts may be sent as parts; else they are joined
    names_tool_results: bool = False
    bridges_tool_to_user: bool = False
    content_when_empty: str | None = None  # what stands for the text of a message that only calls
    reasoning_field: str | None = None  # where its own reasoning goes back
    requires_reasoning: Literal["", "calls", "all"] = ""  # assistant messages that must carry it
    reasoning_placeholder: str = " "
    echoes_details: bool = False  # hands back `reasoning_details`, whatever else it does with reasoning
    unreasoned_calls: Literal["", "sentinel", "extra_content", "off"] = ""  # of others: sign, or do not think
    max_tokens_field: str = "max_tokens"
    seed_field: str = "seed"
    max_stops: int | None = None  # how many stop words it takes
    pins_sampling: bool = False  # takes no temperature but its own
    max_temperature: float = 2.0
    thinking_switch: Literal["", "effort", "type", "enable", "reasoning"] = ""
    efforts: tuple[str, ...] = ()  # degrees of thinking that the host knows, whatever the model
    thinks_unasked: bool = False  # thinking is on unless it is switched off
    stops_thinking: bool = True  # thinking can be switched off
    thinking_needs_stream: bool = False
    forces_while_thinking: bool = True  # takes a forced tool choice while it thinks
    required_word: str = "required"
    takes_parallel: bool = True
    strict_tools: bool = True
    provider_tools: tuple[str, ...] = ()  # types of the tools that it runs itself
    takes: tuple[str, ...] = USUAL_OPTIONS  # of the options that only some servers have, those it has
    not_with_tools: tuple[str, ...] = ()  # fields that it refuses where tools are declared
    also_knows: tuple[str, ...] = ()  # fields that some of its models take
    refuses_unknown: bool = False  # a field that it does not know is a 400, not passed over
    service_tiers: tuple[str, ...] = ()
    metadata_needs_store: bool = False
    stream_usage: bool = True
    document_part: Literal["file", "document_url"] = "file"
    think_tags: bool = False  # for the decoder: <think> in the text is thinking
    joins_choices: bool = False  # for the decoder: one reply is spread over several choices

    @property
    def forces_tools(self) -> bool:
        return self.stops_thinking or self.forces_while_thinking

    def has_tool(self, kind: str) -> bool:
        return kind in self.provider_tools
