"""A session: one loop for every mode, and what it does when things go wrong."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct
from tests.session.talk import KEYS, events, session, shown, statuses, virtually, weather

from turnout import LimitReached, ProviderError, UsageError
from turnout.history.check import violations
from turnout.model import ModelTurn, UserTurn
from turnout.plain import dumps, loads
from turnout.session.events import Complete, Discarded, Failed, Nested
from turnout.session.limits import Limits
from turnout.session.session import Session
from turnout.simulate import Call, HttpError, MidStreamError, Raw, Say, ScriptedTransport, Think, Truncate
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool
from turnout.world.world import World

PARIS = Call("weather", {"city": "Paris"})


def outcomes(talk: Session) -> list[str]:
    return [item.status for item in talk.history.ledger]


def test_a_prompt_runs_through_tools_to_an_answer() -> None:
    """Reply, tools as one batch, reply: the events tell it in order, the last is Complete."""
    talk, transport = session([[PARIS, Call("weather", {"city": "Oslo"})], "Take a coat."])
    seen = events(talk)
    assert shown(seen) == "Take a coat."
    assert [event.outcome.text for event in seen if isinstance(event, ToolResult)] == [
        "18 degrees in Paris",
        "18 degrees in Oslo",
    ]
    assert len(transport.exchanges) == 2 and transport.refusals == []


def test_a_switch_takes_effect_at_the_next_request() -> None:
    """The same history goes on with another provider, and neither refuses anything."""
    talk, transport = session([[Think("hm"), PARIS], "Fine.", "Also fine."], "anthropic:claude-sonnet-4-5")
    events(talk)
    talk.switch("gemini:gemini-3-pro")
    events(talk, "and now?")
    providers = [turn.origin.provider for turn in talk.history.turns if isinstance(turn, ModelTurn)]
    assert providers == ["anthropic", "anthropic", "gemini"]
    assert transport.refusals == []


def test_a_passing_failure_is_retried() -> None:
    """A 500 before anything was shown is retried in silence, but for a status."""
    talk, _transport = session([HttpError("server"), "Hello."])
    seen = events(talk)
    assert statuses(seen) == ["retrying"] and shown(seen) == "Hello."
    assert not any(isinstance(event, Discarded) for event in seen)


def test_s_104_what_a_dead_attempt_showed_is_taken_back() -> None:
    """A stream that dies after it showed text is asked for again; its text is void everywhere."""
    talk, _ = session([[Say("Hel"), Truncate()], "Hello."])
    seen = events(talk)
    assert shown(seen) == "Hello."
    assert sum(isinstance(event, Discarded) for event in seen) == 1
    assert [turn.text for turn in talk.history.turns if isinstance(turn, ModelTurn)] == ["Hello."]


def test_tools_never_start_before_the_reply_has_ended() -> None:
    """A whole call in a stream that breaks off does not run: not in the dead attempt."""
    ran: list[str] = []

    @tool(risk="read")
    async def note(what: str) -> str:
        ran.append(what)
        return "noted"

    talk, _ = session(
        [[Call("note", {"what": "once"}), Truncate()], [Call("note", {"what": "once"})], "ok"], tools=[note]
    )
    events(talk)
    assert ran == ["once"]


def test_out_of_attempts_the_partial_reply_is_kept() -> None:
    """What had arrived whole stays as an interrupted turn; its calls did not run."""
    talk, _ = session([[Say("I will look."), PARIS, Truncate()]] * 9)
    seen = events(talk)
    assert isinstance(seen[-1], Failed)
    last = talk.history.turns[-1]
    assert isinstance(last, ModelTurn) and last.stop == "interrupted" and last.text == "I will look."
    assert all(item.outcome and item.outcome.reason == "did_not_run" for item in talk.history.ledger)
    assert violations(talk.history) == []


def test_an_error_in_the_stream_is_treated_like_one_before_it() -> None:
    """overloaded_error under HTTP 200 is retried."""
    talk, _ = session(
        [[Say("He"), MidStreamError("overloaded", after=1)], "Hello."], "anthropic:claude-sonnet-4-5"
    )
    assert shown(events(talk)) == "Hello."


def test_a_reply_that_breaks_before_it_says_anything_is_asked_for_again_silently() -> None:
    """A count of tokens is nothing that a reader would have to take back."""
    talk, _ = session(
        [[Say("He"), MidStreamError("overloaded", after=0)], "Hello."], "anthropic:claude-sonnet-4-5"
    )
    seen = events(talk)
    assert shown(seen) == "Hello." and statuses(seen) == ["retrying"]
    assert not any(isinstance(event, Discarded) for event in seen)


def test_a_refused_request_is_mended_step_by_step_and_never_sent_twice() -> None:
    """Invalid request: each step takes something away; the same bytes are never sent again."""
    talk, transport = session([[PARIS], HttpError("invalid_request"), "Better."], thinking=True)
    seen = events(talk)
    assert "recovering" in statuses(seen) and shown(seen) == "Better."
    bodies = [exchange.body for exchange in transport.exchanges]
    assert len(set(bodies)) == len(bodies)
    assert talk.telemetry.read("tool_api_400_total") == 1


GROQ_FAILED = {
    "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation'.",
    "type": "invalid_request_error",
    "code": "tool_use_failed",
    "failed_generation": '<function=weather>{"city": }',
}
UNREADABLE = [
    Raw(dumps({"error": GROQ_FAILED}), 400, "application/json"),
    Raw(f"event: error\ndata: {dumps({'error': GROQ_FAILED})}\n\n", 200, "text/event-stream"),
]


UNREADABLE += [
    Raw(dumps({"error": {**GROQ_FAILED, "code": code}}), 400, "application/json")
    for code in ("json_validate_failed", "output_parse_failed")
]


@pytest.mark.parametrize("failed", UNREADABLE, ids=["as a status", "in the stream", "no JSON", "no format"])
def test_a_call_that_the_server_could_not_read_is_asked_for_again(failed: Raw) -> None:
    """Groq's tool_use_failed is the model's fault: the same request goes out again, nothing is given up."""
    talk, transport = session([failed, failed, [PARIS], "Sunny."], "groq:llama-3.3-70b-versatile")
    seen = events(talk)

    assert shown(seen) == "Sunny." and statuses(seen) == ["retrying", "retrying"]
    assert talk._recovery.in_force(talk.target.origin) == ()
    assert talk.telemetry.read("tool_api_400_total") == 0
    assert transport.exchanges[0].body == transport.exchanges[1].body == transport.exchanges[2].body


def test_another_target_is_asked_when_a_model_cannot_write_a_call() -> None:
    """Not at once: the next try of the same model may well be sound."""
    places = ["groq:llama-3.3-70b-versatile", "openai:gpt-5.1"]
    talk, _transport = session(
        [*[UNREADABLE[0]] * 3, "Sunny."], places[0], fallback=places[1:], route="failover"
    )
    seen = events(talk)

    assert shown(seen) == "Sunny." and statuses(seen) == ["retrying", "retrying", "switched"]


def test_every_refused_request_leaves_its_report_in_the_debug_log() -> None:
    """Also those after which a step helped: what was refused, and which layer is at fault, if any."""
    log: list[tuple[str, dict[str, Any]]] = []
    talk, _ = session(
        [HttpError("invalid_request"), HttpError("invalid_request"), "Better."],
        "anthropic:claude-sonnet-4-5",
        thinking=True,
        debug=lambda what, **facts: log.append((what, facts)),
    )
    assert isinstance(events(talk)[-1], Complete)
    reports = [facts["diagnosis"] for what, facts in log if what == "refused"]
    assert len(reports) == 2 and all(report.layer is None and report.report for report in reports)
    assert [what for what, _ in log].count("request") == 3


def test_a_session_is_not_bricked_by_refusals() -> None:
    """When every step is refused the run fails with a report, and the next prompt still works."""
    talk, _ = session(lambda asked: "Alive." if "still" in asked.user else HttpError("invalid_request"))
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, ProviderError)
    assert failed.error.report is not None
    assert shown(events(talk, "still there?")) == "Alive."


def test_a_call_that_ran_after_a_repair_is_shown_as_it_ran() -> None:
    """A model that wrote no JSON reads the arguments its result is the answer to, not an empty call."""
    talk, transport = session([[Call("weather", raw='{"city": "Oslo",}')], "Cold."])
    assert shown(events(talk)) == "Cold." and outcomes(talk) == ["complete"]
    (call,) = loads(transport.exchanges[-1].body)["messages"][1]["tool_calls"]
    assert call["function"]["arguments"] == '{"city":"Oslo"}'


def test_s_116_invalid_arguments_end_in_a_forced_answer() -> None:
    """After three rounds of invalid arguments the tools are switched off and a text is forced."""
    bad = [Call("weather", {})]
    talk, transport = session([bad, bad, bad, "I cannot."])
    seen = events(talk)
    assert shown(seen) == "I cannot." and "guard" in statuses(seen)
    assert b'"tool_choice":"none"' in transport.exchanges[-1].body
    assert talk.telemetry.read("tool_calls_invalid_args") == 3
    assert talk.telemetry.read("tool_loop_max_iterations") == 1


@pytest.mark.parametrize("calls", [[PARIS], [PARIS, Call("weather", {"city": "Oslo"})]])
def test_s_117_the_same_call_over_and_over_is_stopped(calls: list[Call]) -> None:
    """Three times the same, or the same two in turn: the model is made to answer."""
    script = [[call] for call in calls] * 12
    talk, _ = session(lambda asked: script.pop(0) if asked.may_call else "Enough.")
    seen = events(talk)
    assert shown(seen).endswith("Enough.") and "guard" in statuses(seen)


def test_s_118_the_round_limit_closes_with_one_last_request() -> None:
    """At the limit the pairs are closed and one request without tools gets the last word."""
    cities = iter(range(100))
    talk, transport = session(
        lambda asked: "Enough." if not asked.may_call else [Call("weather", {"city": str(next(cities))})],
        rounds=5,
    )
    assert shown(events(talk)) == "Enough."
    assert len(transport.exchanges) == 6 and transport.refusals == []


def test_s_67_a_call_in_spite_of_switched_off_tools_is_answered_and_ends() -> None:
    """The call gets an error, and the turn ends with our own words."""
    talk, _ = session(lambda asked: [PARIS], rounds=2, repeats=99)
    seen = events(talk)
    assert isinstance(seen[-1], Complete) and "limit on rounds" in shown(seen)
    assert outcomes(talk)[-1] == "error"
    assert violations(talk.history) == []


def test_silence_is_noticed_and_pings_do_not_hide_it() -> None:
    """No event for the idle time is a timeout, however many pings come."""
    from turnout.simulate import Pings

    talk, _ = session(
        [[Say("Hi"), Pings(count=100, every=10, after=2)], "Hello."], "anthropic:claude-sonnet-4-5"
    )
    seen = events(talk)
    assert shown(seen) == "Hello."


def test_limits_on_tokens_end_the_run() -> None:
    """A limit that is used up stops the next request, and says which it was."""
    talk, _ = session(["one", "two"], limits=Limits(tokens=1))
    events(talk)
    failed = events(talk, "more")[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, LimitReached)
    assert "tokens" in str(failed.error)


class Coat(Struct):
    needed: bool
    colour: str = "blue"


def test_typed_answers() -> None:
    """A class or a JSON Schema in, a value out; the schema reaches the provider."""
    talk, transport = session(['{"needed": true}', '```json\n{"needed": false}\n```'])
    answer = virtually(talk.ask("coat?", output=Coat))
    assert answer.output == Coat(True)
    assert virtually(talk.ask("coat?", output={"type": "object"})).output == {"needed": False}
    assert b"json_schema" in transport.exchanges[0].body


def test_usage_and_cost_are_added_up() -> None:
    """An answer says what it cost; the session what everything did."""
    talk, _ = session([[PARIS], "ok", "more"])
    first = virtually(talk.ask("go"))
    second = virtually(talk.ask("on"))
    assert first.usage.input and first.cost
    assert talk.cost == pytest.approx(first.cost + second.cost)


def test_s_125_a_subagent_is_one_call_and_one_result() -> None:
    """The parent's history holds the task and its answer; the child's calls stay in the child."""
    talk, transport = session(
        [[Call("task", {"prompt": "look at the weather"})], [PARIS], "18 degrees.", "It is mild."],
        subagents=True,
    )
    seen = events(talk)
    assert shown([event for event in seen if not isinstance(event, Nested)]) == "It is mild."
    calls = [
        call.name for turn in talk.history.turns if isinstance(turn, ModelTurn) for call in turn.tool_calls
    ]
    assert calls == ["task"]
    assert any(isinstance(event, Nested) and isinstance(event.event, ToolResult) for event in seen)
    assert transport.refusals == []


def test_subagents_do_not_nest_without_end() -> None:
    """A model that always spawns is stopped by depth: the child has no task tool."""
    talk, _ = session(
        lambda asked: [Call("task", {"prompt": "deeper"})] if "task" in asked.tools else "bottom",
        subagents=True,
        rounds=2,
    )
    events(talk)
    assert talk.subagents is not None and talk.subagents.tree.total <= 2


def test_long_conversations_are_compressed_before_they_overflow() -> None:
    """Past the trigger, old turns give way to a summary; every request stays valid."""
    from turnout.model import Usage
    from turnout.session.compress import CompressPolicy
    from turnout.simulate import Reply

    def reply(asked: Any) -> Any:
        if "Summarise" in asked.user:
            return "The summary."
        return Reply((Say("ok"),), usage=Usage(input=390_000, output=10))

    talk, transport = session(reply, compress=CompressPolicy(keep_turns=4))
    for number in range(6):
        seen = events(talk, f"prompt {number}")
    assert "compressing" in statuses(seen)
    assert talk.history.summary == "The summary."
    assert transport.refusals == []


def test_one_scheduler_serves_thirty_turns() -> None:
    """A session makes one scheduler, whatever happens in it."""
    talk, _ = session([[PARIS], "ok"] * 30)
    first = talk.scheduler
    for _ in range(30):
        events(talk)
    assert talk.scheduler is first
    assert len([turn for turn in talk.history.turns if isinstance(turn, UserTurn)]) == 30


def test_a_session_can_be_tested_with_any_target() -> None:
    """A scripted model answers in the bytes of whatever provider is asked."""
    for target in (
        "openai:gpt-5.1",
        "anthropic:claude-sonnet-4-5",
        "gemini:gemini-2.5-pro",
        "ollama:llama3.1",
    ):
        talk = Session(
            target,
            tools=[weather],
            world=World(transport=ScriptedTransport([[PARIS], "Mild."]), environment=KEYS),
        )
        assert virtually(talk.ask("go")).text == "Mild."


def test_a_target_without_a_model_is_refused_at_once() -> None:
    """Unless the server answers with the one that it has loaded."""
    with pytest.raises(UsageError, match="'openai' names no model; say 'openai:MODEL'"):
        Session("openai")
    assert Session("lmstudio").target.model == ""
