"""What a subagent has from its parent: whom it asks, how it asks, what it is told, what it may do."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.session.talk import events, session, virtually

from turnout.plain import loads
from turnout.session.compress import CompressPolicy
from turnout.session.events import Complete
from turnout.session.limits import SubagentLimits
from turnout.session.subagents import INSTRUCTION
from turnout.simulate import Call, HttpError, ScriptedTransport, SimulatedRequest
from turnout.tools.declare.tool import tool

CLAUDE, GPT, GEMINI = "anthropic:claude-sonnet-4-5", "openai:gpt-4o", "gemini:gemini-2.5-pro"


def one_task(*rounds: Any) -> Any:
    """A parent that gives one task away, and a subagent that goes through these rounds."""
    left = list(rounds)

    def script(asked: SimulatedRequest) -> Any:
        if "part" in asked.user:
            return left.pop(0) if left else "The part is done."
        return "All done." if asked.results else [Call("task", {"prompt": "a part"})]

    return script


def asked_by_subagent(transport: ScriptedTransport) -> list[Any]:
    return [seen for seen in transport.exchanges if b"a part" in seen.body and b'"task"' not in seen.body]


def bodies(transport: ScriptedTransport) -> list[Any]:
    return [loads(seen.body) for seen in asked_by_subagent(transport)]


def test_failover() -> None:
    """The target that its parent asks is out of quota: the next one does the task."""
    script = one_task(HttpError("quota"), "Done.")
    talk, transport = session(script, CLAUDE, fallback=[GPT], subagents=True)
    assert isinstance(events(talk)[-1], Complete)
    assert [seen.provider for seen in asked_by_subagent(transport)] == ["anthropic", "openai"]
    assert [item.outcome and item.outcome.text for item in talk.history.ledger] == ["Done."]


def test_round_robin() -> None:
    """Its requests take turns, beginning with whom its parent asked."""
    rounds = [[Call("weather", {"city": city})] for city in ("Oslo", "Rome", "Bonn")]
    talk, transport = session(
        one_task(*rounds), CLAUDE, fallback=[GPT, GEMINI], route="round-robin", subagents=True
    )
    events(talk)
    providers = [seen.provider for seen in asked_by_subagent(transport)]
    assert providers == ["anthropic", "openai", "gemini", "anthropic"]


def test_a_named_target_is_the_only_one() -> None:
    """Told otherwise, it asks that one and no other."""
    limits = SubagentLimits(target=GEMINI)
    talk, transport = session(one_task(HttpError("quota")), CLAUDE, fallback=[GPT], subagents=limits)
    events(talk)
    assert {seen.provider for seen in asked_by_subagent(transport)} == {"gemini"}
    assert [item.status for item in talk.history.ledger] == ["error"]


def test_request_options_of_the_session_and_of_the_run() -> None:
    """The session's temperature and the run's limit hold for the subagent, the answer's schema does not."""
    talk, transport = session(one_task(), GPT, subagents=True, temperature=0.25)
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    events(talk, max_tokens=777, schema=schema)
    [body] = bodies(transport)
    assert body["temperature"] == 0.25 and 777 in body.values()
    assert "response_format" not in body


def test_options_that_are_told_otherwise() -> None:
    """What is said for subagents comes before what holds for their parent."""
    limits = SubagentLimits(options={"temperature": 0.75})
    talk, transport = session(one_task(), GPT, subagents=limits, temperature=0.25, max_tokens=777)
    events(talk)
    [body] = bodies(transport)
    assert body["temperature"] == 0.75 and 777 in body.values()


PRUNING = CompressPolicy(trigger=0.03, keep_turns=1, strategy="prune")


@pytest.mark.parametrize(("own", "strategy"), [(None, "truncate"), (PRUNING, "prune")])
def test_the_compression_policy(own: CompressPolicy | None, strategy: str) -> None:
    """A subagent whose own conversation grows too long makes room as its parent would, or as it was told."""

    @tool(risk="read")
    async def dump(n: int) -> str:
        """Say much."""
        return "word " * 5_000

    policy = CompressPolicy(trigger=0.03, keep_turns=1, strategy="truncate")
    rounds = [[Call("dump", {"n": n})] for n in range(6)]
    limits = SubagentLimits(compress=own)
    talk, _ = session(one_task(*rounds), GPT, tools=[dump], subagents=limits, compress=policy)
    seen = events(talk)
    told = {
        event.event.detail
        for event in seen
        if hasattr(event, "event") and getattr(event.event, "kind", "") == "compressing"
    }
    assert told == {strategy}


def test_the_projects_instructions() -> None:
    """What the parent is told, the subagent is told, at every depth once; and that it is a subagent."""

    def script(asked: SimulatedRequest) -> Any:
        return "Done." if asked.results or "task" not in asked.tools else [Call("task", {"prompt": "a part"})]

    system = "The project's own instructions:\n\nUse tabs."
    talk, transport = session(script, GPT, subagents=SubagentLimits(depth=2), system=system)
    events(talk)
    told = [loads(seen.body)["messages"][0]["content"] for seen in transport.exchanges]
    assert set(told) == {system, f"{system}\n\n{INSTRUCTION}"} and len(told) == 5


def test_instructions_that_are_told_otherwise() -> None:
    """Another text in place of the parent's; ours is always there."""
    talk, transport = session(
        one_task(), GPT, subagents=SubagentLimits(system="Be brief."), system="Use tabs."
    )
    events(talk)
    [body] = bodies(transport)
    assert body["messages"][0]["content"] == f"Be brief.\n\n{INSTRUCTION}"


def test_a_mode_that_was_switched_since() -> None:
    """The user changes to plan mode in mid session: what a subagent would write is refused too."""

    @tool(risk="write")
    async def change(path: str) -> str:
        """Change a file."""
        return "changed"

    talk, transport = session(
        one_task([Call("change", {"path": "x"})]), GPT, tools=[change], subagents=True, approval="full"
    )
    talk.scheduler.policy = replace(talk.scheduler.policy, mode="plan")
    events(talk)
    assert "tools" not in bodies(transport)[0]
    assert not any(b"changed" in seen.body for seen in transport.exchanges)


def test_a_summary_is_written_by_another_target_when_the_first_fails() -> None:
    """Summaries have the failover of the session that they are made for."""

    def script(asked: SimulatedRequest) -> Any:
        if "Summarise our conversation" not in asked.user:
            return "ok"
        return HttpError("quota") if asked.provider == "anthropic" else "the summary"

    talk, _ = session(script, CLAUDE, fallback=[GPT], compress=CompressPolicy(keep_turns=1))
    for prompt in "abc":
        events(talk, prompt)
    assert virtually(talk.compact()) and talk.history.summary == "the summary"
