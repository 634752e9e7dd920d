"""Telemetry for OpenTelemetry, by the names of its conventions for generative AI.

    session = Session("anthropic:claude-sonnet-5", telemetry=OpenTelemetry())

A run is a span `invoke_agent`, with a span `chat {model}` for each request and a span
`execute_tool {name}` for each call below it. They hold no content unless
`content=True`, and never a key: keys are removed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import UsageError
from ..model import Message, ModelTurn, Origin, Outcome, Thinking, ToolCall, ToolResponse, block_text
from ..plain import dumps
from ..world.secrets import without_secrets
from .counts import COUNTERS, Operation

try:
    from opentelemetry import context, metrics, trace
except ImportError as error:
    MISSING: ImportError | None = error  # raised when an exporter is made, not at import
else:
    MISSING = None

PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai-responses": "openai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""Providers that the conventions know by another name than we do."""

ROLES = {"model": "assistant"}
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = tuple(4**power for power in range(14))


class OpenTelemetry:
    """An exporter for `Session(telemetry=…)`. Without arguments, the process's own providers are used."""

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        *,
        content: bool = False,
    ) -> None:
        if MISSING is not None:
            raise UsageError("OpenTelemetry is an extra: pip install 'turnout[otel]'") from MISSING
        self.content = content
        self._tracer = trace.get_tracer("turnout", tracer_provider=tracer_provider)
        meter = metrics.get_meter("turnout", meter_provider=meter_provider)
        self._tokens = _histogram(meter, "gen_ai.client.token.usage", "{token}", TOKENS)
        self._first_chunk = _histogram(meter, "gen_ai.client.operation.time_to_first_chunk", "s", SECONDS)
        self._durations = {
            "chat": _histogram(meter, "gen_ai.client.operation.duration", "s", SECONDS),
            "execute_tool": _histogram(meter, "gen_ai.execute_tool.duration", "s", SECONDS),
            "invoke_agent": _histogram(meter, "gen_ai.invoke_agent.duration", "s", SECONDS),
        }
        self._counters = {name: meter.create_counter(name) for name in COUNTERS}

    def count(self, name: str, origin: Origin, by: int) -> None:
        """Add to the counter of this name."""
        self._counters[name].add(by, _model_attributes(origin))

    def begin(self, operation: Operation) -> Any:
        """Open a span; what happens until its end is below it."""
        span = self._tracer.start_span(
            _span_name(operation),
            kind=trace.SpanKind.CLIENT if operation.kind == "chat" else trace.SpanKind.INTERNAL,
            attributes=_without_keys(
                {**_operation_attributes(operation), **dict(_place_attributes(operation))}, operation.secrets
            ),
        )
        here = trace.set_span_in_context(span)
        return span, here, context.attach(here)

    def end(self, operation: Operation, begun: Any) -> None:
        """End the span, with what the operation brought."""
        span, here, token = begun
        if context.get_current() is here:  # a run that is garbage collected may end in another context
            context.detach(token)
        attributes = {
            **_operation_attributes(operation),
            **dict(_result_attributes(operation)),
            **(dict(_content_attributes(operation)) if self.content else {}),
        }
        span.set_attributes(_without_keys(attributes, operation.secrets))
        if operation.error:
            span.set_status(trace.StatusCode.ERROR)
        span.end()
        self._record_metrics(operation)

    def _record_metrics(self, operation: Operation) -> None:
        known = _operation_attributes(operation)
        failed = {"error.type": operation.error} if operation.error else {}
        self._durations[operation.kind].record(operation.seconds, {**known, **failed})
        if operation.kind != "chat":
            return  # the tokens of a run are those of its requests
        if operation.first_chunk is not None:
            self._first_chunk.record(operation.first_chunk, known)
        if operation.usage is not None:
            for kind, count in (("input", operation.usage.input), ("output", operation.usage.output)):
                if count is not None:
                    self._tokens.record(count, {**known, "gen_ai.token.type": kind})


def _histogram(meter: metrics.Meter, name: str, unit: str, steps: tuple[float, ...]) -> metrics.Histogram:
    return meter.create_histogram(name, unit, explicit_bucket_boundaries_advisory=steps)


def _span_name(operation: Operation) -> str:
    subject = operation.tool or (operation.origin.model if operation.kind == "chat" else "")
    return f"{operation.kind} {subject}".strip()


# Numbers, names and fixed words


def _model_attributes(origin: Origin) -> dict[str, Any]:
    provider = PROVIDERS.get(origin.provider, origin.provider)
    return {"gen_ai.provider.name": provider, "gen_ai.request.model": origin.model}


def _operation_attributes(operation: Operation) -> dict[str, Any]:
    """What a span and a metric both say."""
    named = {"gen_ai.tool.name": operation.tool} if operation.tool else {}
    return {"gen_ai.operation.name": operation.kind, **_model_attributes(operation.origin), **named}


def _place_attributes(operation: Operation) -> Iterator[tuple[str, Any]]:
    yield "gen_ai.conversation.id", operation.conversation
    if operation.host:
        yield "server.address", operation.host
    if operation.kind == "execute_tool":
        yield "gen_ai.tool.call.id", operation.call_id
        yield "gen_ai.tool.type", "function"


def _result_attributes(operation: Operation) -> Iterator[tuple[str, Any]]:
    if operation.error:
        yield "error.type", operation.error
    if operation.stop:
        yield "gen_ai.response.finish_reasons", [operation.stop]
    if operation.first_chunk is not None:
        yield "gen_ai.response.time_to_first_chunk", operation.first_chunk
    if (usage := operation.usage) is not None:
        counts = {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_read.input_tokens": usage.cached_input,
            "cache_creation.input_tokens": usage.cache_write,
            "reasoning.output_tokens": usage.reasoning,
        }
        yield from ((f"gen_ai.usage.{name}", count) for name, count in counts.items() if count is not None)


# Content, if it is wanted


def _content_attributes(operation: Operation) -> Iterator[tuple[str, str]]:
    match operation.kind:
        case "chat":
            yield (
                "gen_ai.input.messages",
                dumps([_message_content(each) for each in operation.asked.messages]),
            )
            if isinstance(turn := operation.answered, ModelTurn):
                yield "gen_ai.output.messages", dumps([_message_content(Message("model", turn.blocks))])
        case "execute_tool":
            yield "gen_ai.tool.call.arguments", dumps(operation.asked)
            if isinstance(outcome := operation.answered, Outcome):
                yield "gen_ai.tool.call.result", outcome.text


def _message_content(message: Message) -> dict[str, Any]:
    role = ROLES.get(message.role, message.role)
    return {"role": role, "parts": [_block_content(block) for block in message.blocks]}


def _block_content(block: Any) -> dict[str, Any]:
    match block:
        case ToolCall(call_id, name, arguments):
            return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
        case ToolResponse(call_id, _, outcome):
            return {"type": "tool_call_response", "id": call_id, "response": outcome.text}
        case Thinking(text):
            return {"type": "reasoning", "content": text}
        case _:
            return {"type": "text", "content": block_text(block)}


def _without_keys(attributes: dict[str, Any], secrets: Iterable[str]) -> dict[str, Any]:
    """The attributes without keys: those in use, and what looks like one."""
    return {
        name: without_secrets(value, secrets) if isinstance(value, str) else value
        for name, value in attributes.items()
    }
