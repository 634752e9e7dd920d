"""One reply, with all that it may take: retries, other targets, recovery, and what is taken back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.talk import events, session, shown, statuses

from turnout import ProviderError
from turnout.history.check import violations
from turnout.model import ModelTurn
from turnout.plain import dumps
from turnout.session.events import Complete, Discarded, Failed
from turnout.simulate import Call, HttpError, MidStreamError, Raw, Say, Truncate
from turnout.tools.declare.tool import tool

PARIS = Call("weather", {"city": "Paris"})


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
    assert talk.recovery.in_force(talk.target.origin) == ()
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
