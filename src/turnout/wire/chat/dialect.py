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
    system_anywhere: bool = True  # system text in mid conversation; else it is sent as the user
    starts_with_user: bool = True
    alternates: bool = False  # neighbours of one role are joined: chat templates require it
    calls_alone: bool = False  # MIS-07: text beside calls goes in a message before them
    text_parts: bool = True  # several texts may be sent as parts; else they are joined
    # Mistral no longer asks for the name, but some chat templates print it: harmless where it is not read.
    names_tool_results: bool = False
    bridges_tool_to_user: bool = False  # MIS-04: an assistant message between a tool and a user message
    content_when_empty: str | None = None  # the content of a message that has only calls
    reasoning_field: str | None = None  # where its own reasoning goes back
    # A model that thinks loses its thread without its own reasoning, so some servers demand it back.
    requires_reasoning: Literal["", "calls", "all"] = ""  # messages that must carry it (KIM-02, DSK-01)
    reasoning_placeholder: str = " "
    echoes_details: bool = False  # sends back `reasoning_details`, also without a `reasoning_field`
    unreasoned_calls: Literal["", "sentinel", "extra_content", "off"] = ""  # of others: sign, or think off
    max_tokens_field: str = "max_tokens"
    seed_field: str = "seed"
    max_stops: int | None = None  # how many stop words it takes
    # Kimi pins what it samples with; another value is a 400, not ignored (KIM-07).
    pins_sampling: bool = False  # refuses any temperature but its own
    max_temperature: float = 2.0
    thinking_switch: Literal["", "effort", "type", "enable", "reasoning"] = ""
    efforts: tuple[str, ...] = ()  # efforts that the host knows, for every model
    thinks_unasked: bool = False  # thinking is on unless it is switched off
    stops_thinking: bool = True  # thinking can be switched off
    thinking_needs_stream: bool = False
    # Kimi: "tool_choice specified is incompatible with thinking enabled"; DeepSeek and Qwen likewise.
    forces_while_thinking: bool = True  # takes a forced tool choice while it thinks
    required_word: str = "required"
    takes_parallel: bool = True
    strict_tools: bool = True
    provider_tools: tuple[str, ...] = ()  # types of the tools that it runs itself
    takes: tuple[str, ...] = USUAL_OPTIONS  # of the options that only some servers have, those it has
    not_with_tools: tuple[str, ...] = ()  # fields that it refuses where tools are declared
    also_knows: tuple[str, ...] = ()  # fields that some of its models take
    refuses_unknown: bool = False  # a field that it does not know is a 400; others ignore it
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
