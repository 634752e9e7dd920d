"""OpenTelemetry: the real SDK with exporters in memory, and names that the conventions know."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from tests.session.talk import KEYS, events, session

from turnout import OpenTelemetry
from turnout.model import Usage
from turnout.session.events import Complete, Failed
from turnout.simulate import Call, Delay, HttpError, Reply, Say, Think
from turnout.telemetry.otel import PROVIDERS
from turnout.tools.declare.tool import tool

PARIS = Call("weather", {"city": "Paris"})
KEY = 'plain words that look like "no key" at all'


class Watched:
    """A session whose telemetry goes to the SDK, and what the SDK got of it."""

    def __init__(
        self, script: Any, target: str = "openai:gpt-5.1", content: bool = False, **settings: Any
    ) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracing, self.metering = TracerProvider(), MeterProvider([self.reader])
        self.tracing.add_span_processor(SimpleSpanProcessor(self.exporter))
        telemetry = OpenTelemetry(self.tracing, self.metering, content=content)
        self.session, _ = session(script, target, telemetry=telemetry, **settings)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    @property
    def metrics(self) -> dict[str, Any]:
        data = self.reader.get_metrics_data()
        assert data is not None
        [of_turnout] = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
        return {metric.name: metric for metric in of_turnout.metrics}

    @property
    def everything(self) -> str:
        return "".join(span.to_json() for span in self.spans) + repr(self.reader.get_metrics_data())


def said(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_run_is_a_tree_of_spans() -> None:
    """invoke_agent holds the requests and the calls; a subagent's run stands below its call."""
    watched = Watched([[Call("task", {"prompt": "look"}), PARIS], [PARIS], "18.", "Mild."], subagents=True)
    events(watched.session)
    names = {span.context.span_id: span.name for span in watched.spans if span.context}
    tree = sorted(
        (names.get(span.parent.span_id, "") if span.parent else "", span.name) for span in watched.spans
    )
    assert tree == [
        ("", "invoke_agent"),
        ("execute_tool task", "invoke_agent"),
        ("invoke_agent", "chat gpt-5.1"),
        ("invoke_agent", "chat gpt-5.1"),
        ("invoke_agent", "chat gpt-5.1"),
        ("invoke_agent", "chat gpt-5.1"),
        ("invoke_agent", "execute_tool task"),
        ("invoke_agent", "execute_tool weather"),
        ("invoke_agent", "execute_tool weather"),
    ]
    assert len({span.context.trace_id for span in watched.spans if span.context}) == 1


def test_spans_say_what_the_conventions_ask_for() -> None:
    """Operation, provider, model, conversation, tokens, why the reply ended, how long its start took."""
    usage = Usage(input=120, output=8, cached_input=100, reasoning=3)
    script = [Reply((PARIS,), usage=usage, faults=(Delay(2),)), "Mild."]
    watched = Watched(script, "mistral:mistral-large-latest", id="talk1")
    events(watched.session)
    chat = watched.named("chat mistral-large-latest")[0]
    assert chat.kind == trace.SpanKind.CLIENT and chat.status.status_code == trace.StatusCode.UNSET
    told = said(chat)
    assert told.pop("gen_ai.response.time_to_first_chunk") == pytest.approx(2)
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "mistral_ai",
        "gen_ai.request.model": "mistral-large-latest",
        "gen_ai.conversation.id": "talk1",
        "server.address": "api.mistral.ai",
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 8,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.reasoning.output_tokens": 3,
        "gen_ai.response.finish_reasons": ("tool_calls",),
    }
    [call] = watched.named("execute_tool weather")
    assert call.kind == trace.SpanKind.INTERNAL
    assert said(call) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.provider.name": "mistral_ai",
        "gen_ai.request.model": "mistral-large-latest",
        "gen_ai.conversation.id": "talk1",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": next(iter(watched.session.history.ledger)).call.id,
    }
    [run] = watched.named("invoke_agent")
    assert said(run)["gen_ai.usage.input_tokens"] == watched.session.usage.input


def test_every_name_is_one_of_the_conventions() -> None:
    """Attributes, providers and client metrics are in the SDK's own list."""
    watched = Watched([[PARIS], "Mild."], content=True)
    events(watched.session)
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI")}
    used = {name for span in watched.spans for name in said(span)}
    assert used <= known | {"server.address", "error.type"}
    assert set(PROVIDERS.values()) <= {each.value for each in gen_ai_attributes.GenAiProviderNameValues}
    client = {value for name, value in vars(gen_ai_metrics).items() if name.startswith("GEN_AI_CLIENT")}
    assert {name for name in watched.metrics if name.startswith("gen_ai.client")} == client - {
        "gen_ai.client.operation.time_per_output_chunk"
    }


def test_failures_have_a_type_and_no_message() -> None:
    """A refused request, a tool that raised, a run that failed: a fixed word each."""

    @tool(risk="read")
    async def odd() -> str:
        raise OSError("the secret plan")

    watched = Watched(
        [HttpError("server"), [Call("odd", {})], HttpError("quota", message="the plan")], tools=[odd]
    )
    assert isinstance(events(watched.session)[-1], Failed)
    failed = [
        (span.name, said(span).get("error.type"), span.status.status_code.name) for span in watched.spans
    ]
    assert failed == [
        ("chat gpt-5.1", "server", "ERROR"),
        ("chat gpt-5.1", None, "UNSET"),
        ("execute_tool odd", "OSError", "ERROR"),
        ("chat gpt-5.1", "quota", "ERROR"),
        ("invoke_agent", "quota", "ERROR"),
    ]
    assert "plan" not in watched.everything


def test_metrics_hold_tokens_durations_first_chunks_and_the_five_counters() -> None:
    """Histograms by the conventions' names and units, counters by ours, each with provider and model."""
    watched = Watched([[PARIS, Call("slow", {"seconds": 4}), Delay(2)], [Call("weather", {})], "Mild."])
    events(watched.session)
    metrics = watched.metrics
    model = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5.1"}
    tokens = {dict(point.attributes)["gen_ai.token.type"]: point for point in points(metrics, TOKENS)}
    assert tokens["input"].sum == watched.session.usage.input and tokens["input"].count == 3
    assert tokens["output"].sum == watched.session.usage.output
    [chat] = points(metrics, "gen_ai.client.operation.duration")
    assert (chat.count, chat.sum) == (3, pytest.approx(2)) and model.items() <= dict(chat.attributes).items()
    [first] = points(metrics, "gen_ai.client.operation.time_to_first_chunk")
    assert (first.count, first.max) == (3, pytest.approx(2))
    ran = {dict(point.attributes)["gen_ai.tool.name"]: point.sum for point in points(metrics, EXECUTE)}
    assert ran == {"weather": pytest.approx(0), "slow": pytest.approx(4)}
    [run] = points(metrics, "gen_ai.invoke_agent.duration")
    assert run.sum == pytest.approx(6)
    assert {metrics[name].unit for name in metrics if name.endswith(("duration", "chunk"))} == {"s"}
    [total] = points(metrics, "tool_calls_total")
    assert total.value == 3 and dict(total.attributes) == model
    [invalid] = points(metrics, "tool_calls_invalid_args")
    assert invalid.value == 1


TOKENS = "gen_ai.client.token.usage"
EXECUTE = "gen_ai.execute_tool.duration"


def points(metrics: dict[str, Any], name: str) -> list[Any]:
    return list(metrics[name].data.data_points)


CANARIES = ("the-prompt", "the-thought", "the-answer", "Paris", "18 degrees", "the-system", "the-schema")


@pytest.mark.parametrize("target", ["openai:gpt-5.1", "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-pro"])
def test_nothing_that_was_said_is_exported(target: str) -> None:
    """Not the prompt, a thought, an argument, a result, an answer, an instruction, nor a key."""
    watched = Watched(
        [[Think("the-thought"), PARIS], "the-answer"],
        target,
        system="the-system",
        thinking=True,
        environment=dict.fromkeys(KEYS, KEY),
    )
    assert isinstance(events(watched.session, "the-prompt")[-1], Complete)
    for word in (*CANARIES, "no key"):
        assert word not in watched.everything, word
    assert len(watched.spans) == 4


def test_what_was_said_is_exported_when_that_is_switched_on_and_keys_still_are_not() -> None:
    """`content=True` adds messages, arguments and results; the key in use and what looks like one go out."""
    secret = "sk-proj-abcdefghijklmnop123456"

    @tool(risk="read")
    async def leak(city: str) -> str:
        return f"{city}: the key is {KEY}, the other {secret}"

    watched = Watched(
        [[Say("Hm."), Call("leak", {"city": "Paris"})], "the-answer"],
        content=True,
        tools=[leak],
        environment=dict.fromkeys(KEYS, KEY),
    )
    events(watched.session, f"the-prompt {secret} {KEY}")
    told = watched.everything
    assert all(word in told for word in ("the-prompt", "the-answer", "Paris: the key is [redacted]"))
    assert "no key" not in told and secret not in told
    asked = said(watched.named("chat gpt-5.1")[1])["gen_ai.input.messages"]
    assert [word in asked for word in ('"role":"user"', '"tool_call_response"', '"tool_call"')] == [True] * 3


def test_a_session_without_it_does_not_load_it() -> None:
    """The extra is loaded when it is asked for, and not before."""
    code = "import sys, turnout; turnout.Session; print('opentelemetry' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
