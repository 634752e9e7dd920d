"""What a session is made with: the parameters, the values that group them, and what a mistake is answered."""

from __future__ import annotations

import inspect
from json import loads
from pathlib import Path
from typing import Any

import pytest
from tests.session.talk import KEYS, events, session, slow, virtually

import turnout
from turnout import (
    Approval,
    Limits,
    Options,
    RetryPolicy,
    Session,
    SubagentLimits,
    Timeouts,
    ToolLimits,
    UsageError,
    Workspace,
    World,
)
from turnout.errors import LimitReached
from turnout.session.events import Failed
from turnout.simulate import Call, HttpError, ScriptedTransport

GPT, CLAUDE = "openai:gpt-4o", "anthropic:claude-sonnet-4-5"
PARAMETERS = [
    *("target", "fallback", "route", "tools", "system", "store", "id", "history", "options", "approval"),
    *("workspace", "limits", "compress", "hooks", "telemetry", "world", "api_key", "base_url"),
]


def test_the_parameters_are_these() -> None:
    """Only the target is given by position; all others are keywords with a default."""
    first, *others = inspect.signature(Session).parameters.values()
    assert [first.name, *(each.name for each in others)] == PARAMETERS
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and first.default is inspect.Parameter.empty
    assert {each.kind for each in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(each.default is not inspect.Parameter.empty for each in others)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Approval, "mode rules approver asker taint"),
        (Workspace, "path network"),
        (Limits, "cost tokens rounds time tools subagents retries timeouts"),
        (World, "transport keys environment"),
    ],
)
def test_the_groups_begin_with_these_fields(kind: Any, fields: str) -> None:
    """What the documentation names comes first, in that order."""
    known = kind.__struct_fields__
    assert list(known)[: len(fields.split())] == fields.split()


# Mistakes


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (
            {"temprature": 0},
            "parameter 'temprature'; did you mean options=Options(temperature=…)?",
        ),
        ({"temperature": 0}, "Session() has no parameter 'temperature'; give options=Options(temperature=…)"),
        ({"fallbacks": []}, "Session() has no parameter 'fallbacks'; did you mean fallback?"),
        ({"approver": None}, "Session() has no parameter 'approver'; give approval=Approval(approver=…)"),
        ({"network": True}, "Session() has no parameter 'network'; give workspace=Workspace(network=…)"),
        ({"rounds": 3}, "Session() has no parameter 'rounds'; give limits=Limits(rounds=…)"),
        ({"enviroment": {}}, "did you mean world=World(environment=…)?"),
        ({"xyzzy": 1}, f"it has {', '.join(PARAMETERS)}"),
    ],
)
def test_a_misspelt_parameter_is_answered_with_the_nearest(given: dict[str, Any], answer: str) -> None:
    """At construction, with the group that the name belongs to."""
    with pytest.raises(TypeError) as caught:
        Session(GPT, **given)
    assert answer in str(caught.value)


@pytest.mark.parametrize("kind", [Options, Approval, Limits, Workspace, World, Timeouts, SubagentLimits])
def test_a_misspelt_field_is_answered_with_the_nearest(kind: Any) -> None:
    """Each value that a user writes out by name checks the names."""
    known = kind.__struct_fields__[0]
    with pytest.raises(TypeError) as caught:
        kind(**{f"{known}x": 1})
    assert str(caught.value) == f"{kind.__name__}() has no field '{known}x'; did you mean {known}?"


@pytest.mark.parametrize("name", ["ask", "run", "go_on"])
def test_a_misspelt_option_of_a_prompt_is_answered_at_once(name: str) -> None:
    """Nothing is on record and nothing is sent: `run` answers when it is called, not when it is walked."""
    talk, transport = session(["Hi."], GPT)

    def call() -> Any:
        asked = getattr(talk, name)(*([] if name == "go_on" else ["hello"]), temprature=0)
        return virtually(asked) if inspect.isawaitable(asked) else asked

    with pytest.raises(TypeError, match=rf"{name}\(\) .* 'temprature'; did you mean temperature\?"):
        call()
    assert not transport.exchanges and not talk.history.turns


def test_values_of_options_are_checked_at_construction() -> None:
    """A session that could not send one request is not made."""
    with pytest.raises(UsageError, match=r"temperature -1.* is below 0"):
        Session(GPT, options=Options(temperature=-1))
    with pytest.raises(TypeError, match="did you mean effort"):
        Session(GPT, limits=Limits(subagents=SubagentLimits(options={"efort": "low"})))
    with pytest.raises(UsageError, match="'sometimes'"):
        Session(GPT, approval="sometimes")  # type: ignore[arg-type]


# What the groups do


def test_options_of_a_session_and_of_a_prompt() -> None:
    """Those of the session are for every request; a keyword of `ask` counts more."""
    talk, transport = session(["Hi."] * 2, GPT, options=Options(temperature=0.5, max_tokens=99))
    virtually(talk.ask("hello"))
    virtually(talk.ask("hello", temperature=0))
    first, second = (loads(seen.body) for seen in transport.exchanges)
    assert first["temperature"] == 0.5 and second["temperature"] == 0 and 99 in second.values()


def test_a_session_streams_unless_its_options_say_otherwise() -> None:
    """`stream` has no default of its own: a session streams, one rendered request does not."""
    for options, streams in ((None, True), (Options(stream=False), None), (Options(stream=True), True)):
        talk, transport = session(["Hi."], GPT, options=options)
        virtually(talk.ask("hello"))
        assert loads(transport.exchanges[0].body).get("stream") is streams
    assert "stream" not in turnout.render(talk.history, GPT).json


def test_a_fallback_is_asked_when_the_target_fails() -> None:
    """Unless the route says otherwise. One fallback may be given by itself."""
    for fallback in ([CLAUDE], CLAUDE):
        talk, transport = session([HttpError("quota"), "Hi."], GPT, fallback=fallback)
        assert talk.router.route == "failover" and virtually(talk.ask("hello")).text == "Hi."
        assert [seen.provider for seen in transport.exchanges] == ["openai", "anthropic"]
    assert session([], GPT)[0].router.route == "fixed"
    assert session([], GPT, fallback=[CLAUDE], route="round-robin")[0].router.route == "round-robin"


def test_the_address_and_the_key_are_for_the_target_alone() -> None:
    """A fallback lives where its provider lives, and gets the key of its own account."""
    world = World(transport=ScriptedTransport(["Hi."]), environment=KEYS)
    talk = Session(GPT, fallback=[CLAUDE], base_url="http://127.0.0.1:9/v1", api_key="mine", world=world)
    first, second = talk.router.targets
    assert first.provider.base_url == "http://127.0.0.1:9/v1" and "anthropic" in second.provider.base_url
    assert virtually(talk.keys.headers(first)) == {"authorization": "Bearer mine"}
    assert "mine" not in virtually(talk.keys.headers(second)).values()


def test_approval_is_a_mode_or_a_value() -> None:
    """`approval="full"` is `Approval(mode="full")`."""
    assert Session(GPT).scheduler.policy.mode == "ask"
    assert Session(GPT, approval="full").scheduler.policy.mode == "full"
    policy = Session(GPT, approval=Approval(mode="plan", taint=False)).scheduler.policy
    assert (policy.mode, policy.taint) == ("plan", False)


def test_a_workspace_is_a_path_or_a_value(tmp_path: Path) -> None:
    """Commands have no network unless the value says so."""
    assert Session(GPT).scheduler.workspace is None
    for workspace in (str(tmp_path), tmp_path, Workspace(tmp_path), Workspace(tmp_path, network=True)):
        assert Session(GPT, workspace=workspace).scheduler.workspace.root == str(tmp_path)


def test_retries_and_subagents_may_be_numbers() -> None:
    """`retries` counts what comes after the first attempt; `subagents` how many there may be in all."""
    assert Limits(retries=0).retry_policy.attempts == 1 and Limits(retries=2).retry_policy.attempts == 3
    assert (
        Limits().retry_policy == RetryPolicy() and Limits(retries=RetryPolicy(9)).retry_policy.attempts == 9
    )
    for given in (False, 0, True, 3, SubagentLimits(depth=2)):
        made = Limits(subagents=given).subagent_limits
        tools = {tool.name for tool in Session(GPT, limits=Limits(subagents=given)).scheduler.registry}
        assert (made is not None) == bool(given) == ("task" in tools)
    limits = Limits(subagents=3).subagent_limits
    assert limits is not None and limits.total == 3


def test_limits_of_tools_reach_the_scheduler() -> None:
    """Also those that a whole tree of subagents shares."""
    scheduler = Session(GPT, limits=Limits(tools=ToolLimits(parallel=2))).scheduler
    assert scheduler.limits.parallel == 2


@pytest.mark.parametrize(
    "script", [[[Call("slow", {"seconds": 60})], "Done."], [HttpError("overloaded")] * 99]
)
def test_a_run_ends_when_its_time_is_used_up(script: Any) -> None:
    """In the middle of a tool or of a retry. The calls are settled, and the next run has its time again."""
    talk, _ = session(script, GPT, tools=[slow], time=2.5, retries=RetryPolicy(attempts=99))
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, LimitReached)
    assert "the limit of 2.5 s for one run is used up" in str(failed.error)
    assert not talk.history.open_calls


# What is public


def test_no_two_public_classes_share_a_name() -> None:
    """Nor does a public class share its name with a class elsewhere in the package."""
    public = {name for name in turnout.__all__ if inspect.isclass(getattr(turnout, name))}
    assert {getattr(turnout, name).__name__ for name in public} == public
