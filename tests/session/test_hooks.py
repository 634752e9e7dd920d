"""Hooks: they see, change and refuse model calls and tool calls, and can break nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from tests.session.talk import events, session, virtually, weather
from tests.sim import oracles

from turnout import HookError, Hooks, ModelRequest, Outcome, Refuse, ToolContext, UsageError
from turnout.model import ModelTurn, Text, Thinking, ToolCall, ToolSpec, UserTurn, block_text
from turnout.session.compress import CompressPolicy
from turnout.session.events import Complete, Discarded, Failed
from turnout.session.session import Session
from turnout.simulate import Call, HttpError, Say, Think
from turnout.streaming.events import TextDelta
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool
from turnout.tools.policy.approval import ApprovalRequest, Decision

PARIS = Call("weather", {"city": "Paris"})


async def nothing(*_: Any) -> None:
    """A hook that lets things be."""


def sound(talk: Session) -> None:
    """Whatever the hooks did, every provider can read the history, and the session goes on."""
    oracles.sound(talk.history)
    oracles.replayable(talk.history)
    oracles.readable_by_all(talk.history, talk.tool_specs())


def results(talk: Session) -> list[tuple[str, str]]:
    return [(item.status, item.outcome.text if item.outcome else "") for item in talk.history.ledger]


# Around a model call


def test_hooks_see_every_request_and_every_reply() -> None:
    """Before each request, after each reply: with the target, the turns, the outcomes and the tools."""
    seen: list[Any] = []

    async def before(request: ModelRequest) -> None:
        seen.append(
            (str(request.target), len(request.turns), [each.text for each in request.outcomes.values()])
        )
        assert {spec.name for spec in request.tools} == {"weather", "slow"} and request.system == "Be brief."

    async def after(request: ModelRequest, turn: ModelTurn) -> None:
        seen.append((len(request.turns), turn.text or turn.tool_calls[0].name))

    talk, _ = session(
        [[PARIS], "Mild."], hooks=Hooks(before_model=before, after_model=after), system="Be brief."
    )
    events(talk)
    assert seen == [
        ("openai:gpt-5.1", 1, []),
        (1, "weather"),
        ("openai:gpt-5.1", 2, ["18 degrees in Paris"]),
        (2, "Mild."),
    ]


def test_what_a_hook_changes_is_sent_and_the_history_keeps_what_was_said() -> None:
    """Words, results, options, tools and instructions change on the way out; the log does not."""

    async def before(request: ModelRequest) -> ModelRequest:
        turns = tuple(
            replace(turn, blocks=tuple(hidden(block) for block in turn.blocks)) for turn in request.turns
        )
        outcomes = {call_id: Outcome("complete", "[withheld]") for call_id in request.outcomes}
        return replace(
            request,
            turns=turns,
            outcomes=outcomes,
            system="Speak French.",
            options={**request.options, "temperature": 0.25},
            tools=tuple(spec for spec in request.tools if spec.name == "weather"),
        )

    def hidden(block: Any) -> Any:
        return (
            replace(block, text=block.text.replace("Lisbeth", "[name]")) if isinstance(block, Text) else block
        )

    talk, transport = session(
        [[Say("Hello Lisbeth."), PARIS], "Done."], "deepseek:deepseek-chat", hooks=Hooks(before_model=before)
    )
    events(talk, "I am Lisbeth.")
    sent = transport.exchanges[-1].body
    assert b"Lisbeth" not in sent and sent.count(b"[name]") == 2
    assert b"[withheld]" in sent and b"18 degrees" not in sent
    assert b"Speak French." in sent and b'"temperature":0.25' in sent and b'"slow"' not in sent
    assert talk.history.turns[0].blocks == (Text("I am Lisbeth."),)
    assert results(talk) == [("complete", "18 degrees in Paris")]
    sound(talk)


@pytest.mark.parametrize(
    "target",
    ["anthropic:claude-sonnet-4-5", "gemini:gemini-3-pro", "openai-responses:gpt-5.1", "kimi:kimi-k2.5"],
)
def test_signed_thinking_that_a_hook_rewrites_is_not_sent_as_if_it_were_signed(target: str) -> None:
    """What a provider signed and a hook changed is no longer the provider's; it refuses nothing."""

    async def before(request: ModelRequest) -> ModelRequest:
        turns = tuple(replace(turn, blocks=tuple(map(shouted, turn.blocks))) for turn in request.turns)
        return replace(request, turns=turns)

    def shouted(block: Any) -> Any:
        if isinstance(block, Text | Thinking):
            return replace(block, text=block.text.upper())
        return replace(block, arguments={"city": "Rome"}) if isinstance(block, ToolCall) else block

    talk, transport = session(
        [[Think("hm"), Say("let me see"), PARIS], [Think("so"), PARIS], "Done."],
        target,
        thinking=True,
        hooks=Hooks(before_model=before),
    )
    assert isinstance(events(talk)[-1], Complete)
    assert transport.refusals == [] and b"Rome" in transport.exchanges[-1].body
    assert b"Paris" not in transport.exchanges[-1].body.replace(b"18 degrees in Paris", b"")
    sound(talk)


def test_a_hook_may_add_and_drop_turns() -> None:
    """A turn that the hook dropped is not sent, one that it added is; a call goes with its result."""

    async def before(request: ModelRequest) -> ModelRequest:
        kept = [turn for turn in request.turns if not isinstance(turn, ModelTurn)]
        return replace(request, turns=(*kept, UserTurn("reminder", (Text("Remember the rain."),))))

    talk, transport = session([[PARIS], "Done."], hooks=Hooks(before_model=before))
    events(talk)
    assert (
        b"Remember the rain." in transport.exchanges[-1].body
        and b"tool_calls" not in transport.exchanges[-1].body
    )
    assert transport.refusals == []
    sound(talk)


def test_a_hook_sees_and_changes_the_summary_too() -> None:
    """What stands for older turns is sent as the hook leaves it; nothing else of them is."""

    async def before(request: ModelRequest) -> ModelRequest:
        return replace(request, summary=request.summary.replace("Lisbeth", "[name]"))

    talk, transport = session(["Hi.", "Yes."], hooks=Hooks(before_model=before))
    events(talk, "I am Lisbeth.")
    talk.history.compact(talk.history.turns[-1].key, "Lisbeth said hello.")
    events(talk, "Do you remember?")
    assert (
        b"[name] said hello." in transport.exchanges[-1].body
        and b"Lisbeth" not in transport.exchanges[-1].body
    )
    assert talk.history.summary == "Lisbeth said hello."
    sound(talk)


def test_a_refused_request_ends_the_run_and_is_not_sent() -> None:
    """The run fails with the hook's words; nothing leaves, and the next prompt works."""
    refusing = [True]

    async def before(request: ModelRequest) -> Refuse | None:
        return Refuse("not on Sundays") if refusing[0] else None

    talk, transport = session(["Hello."], hooks=Hooks(before_model=before))
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, HookError)
    assert (failed.error.hook, failed.error.refused, str(failed.error)) == (
        "before_model",
        True,
        "not on Sundays",
    )
    assert list(transport.exchanges) == []
    sound(talk)
    refusing[0] = False
    assert isinstance(events(talk, "again")[-1], Complete)


def test_a_refused_reply_is_taken_back_and_its_calls_do_not_run() -> None:
    """What was shown of it is void, it is not in the history, and what it cost is counted."""

    async def after(request: ModelRequest, turn: ModelTurn) -> Refuse:
        return Refuse("too rude")

    talk, _ = session([[Say("You fool."), PARIS], "Sorry."], hooks=Hooks(after_model=after))
    seen = events(talk)
    assert isinstance(seen[-1], Failed) and str(seen[-1].error) == "too rude"
    assert [type(event) for event in seen][-2] is Discarded
    assert [type(turn) for turn in talk.history.turns] == [UserTurn] and not talk.history.ledger
    assert talk.usage.input
    sound(talk)


def test_a_changed_reply_takes_the_place_of_what_was_shown() -> None:
    """Surfaces take the text back and show the new one; its calls run as the hook left them."""

    async def after(request: ModelRequest, turn: ModelTurn) -> ModelTurn:
        blocks = [Text("Let me look.") if isinstance(block, Text) else block for block in turn.blocks]
        return replace(turn, blocks=tuple(block for block in blocks if not isinstance(block, Thinking)))

    talk, transport = session(
        [[Think("hm"), Say("You fool."), PARIS], "Mild."],
        "anthropic:claude-sonnet-4-5",
        thinking=True,
        hooks=Hooks(after_model=after),
    )
    shown = ""
    for event in (seen := events(talk)):
        shown = "" if isinstance(event, Discarded) else shown
        shown += event.text if isinstance(event, TextDelta) else ""
    assert isinstance(seen[-1], Complete) and seen[-1].turn.text == "Let me look." == shown
    assert b"You fool" not in transport.exchanges[1].body and transport.refusals == []
    assert results(talk) == [("complete", "18 degrees in Paris")]
    sound(talk)


def test_arguments_that_a_hook_gave_a_reply_stand_in_place_of_what_the_model_wrote() -> None:
    """A call whose arguments were no JSON runs with those that the hook gave it."""

    async def after(request: ModelRequest, turn: ModelTurn) -> ModelTurn:
        blocks = tuple(
            replace(block, arguments={"city": "Oslo"}, fault="") if isinstance(block, ToolCall) else block
            for block in turn.blocks
        )
        return replace(turn, blocks=blocks)

    talk, _ = session([[Call("weather", raw="")], "Mild."], hooks=Hooks(after_model=after))
    events(talk)
    assert results(talk) == [("complete", "18 degrees in Oslo")]
    assert all(item.call.raw is None for item in talk.history.ledger)
    sound(talk)


def test_a_hook_sees_a_request_again_when_it_is_sent_again() -> None:
    """Every request that leaves has passed: retries, another target, and a summary's too."""
    seen: list[str] = []

    async def before(request: ModelRequest) -> ModelRequest:
        seen.append(request.target.provider)
        return replace(request, system=f"For {request.target.provider}.")

    talk, transport = session(
        [HttpError("overloaded"), "Fine."],
        "openai:gpt-5.1",
        fallback=["anthropic:claude-sonnet-4-5"],
        hooks=Hooks(before_model=before),
    )
    events(talk)
    assert seen == ["openai", "anthropic"]
    assert b"For anthropic." in transport.exchanges[-1].body


def test_summaries_and_subagents_have_the_same_hooks() -> None:
    """What is hidden from one model is hidden from the one that summarises, and from subagents."""
    seen: list[tuple[str, str]] = []

    async def before(request: ModelRequest) -> None:
        seen.append(("model", block_text(request.turns[-1].blocks[0])))

    async def before_tool(call: ToolCall) -> None:
        seen.append(("tool", call.name))

    talk, _ = session(
        [[Call("task", {"prompt": "look"})], [PARIS], "18.", "Mild.", "the summary"],
        hooks=Hooks(before_model=before, before_tool=before_tool),
        subagents=True,
        compress=CompressPolicy(keep_turns=1),
    )
    events(talk)
    assert ("model", "look") in seen and [name for kind, name in seen if kind == "tool"] == [
        "task",
        "weather",
    ]
    virtually(talk.compact())
    assert seen[-1][1].startswith("Summarise") and talk.history.summary == "the summary"


# Around a tool call


def test_arguments_that_a_hook_changed_are_what_runs_and_what_is_on_record() -> None:
    """The tool gets them, the ledger says so, and the model's own words stay in its turn."""

    async def before(call: ToolCall) -> ToolCall:
        return replace(call, arguments={"city": "Oslo"})

    talk, _ = session([[PARIS], "Mild."], hooks=Hooks(before_tool=before))
    events(talk)
    [interaction] = talk.history.ledger
    assert interaction.outcome is not None and interaction.outcome.text == "18 degrees in Oslo"
    assert interaction.changed_arguments == {"city": "Oslo"} and interaction.call.arguments == {
        "city": "Paris"
    }
    sound(talk)


def test_a_change_that_python_calls_equal_is_on_record_too() -> None:
    """True is not 1 to a tool, though Python says they are equal."""
    got: list[Any] = []

    @tool(risk="read")
    async def mark(value: Any) -> str:
        got.append(value)
        return "marked"

    async def before(call: ToolCall) -> ToolCall:
        return replace(call, arguments={"value": True})

    talk, _ = session([[Call("mark", {"value": 1})], "ok"], tools=[mark], hooks=Hooks(before_tool=before))
    events(talk)
    [interaction] = talk.history.ledger
    assert got == [True] and interaction.changed_arguments == {"value": True}


def test_a_call_that_nobody_changed_has_no_arguments_on_record_of_its_own() -> None:
    """The intent says only that it ran; an observing hook leaves no trace."""
    talk, _ = session([[PARIS], "Mild."], hooks=Hooks(before_tool=nothing, after_tool=nothing))
    events(talk)
    [interaction] = talk.history.ledger
    assert interaction.started and interaction.changed_arguments is None
    assert results(talk) == [("complete", "18 degrees in Paris")]


def test_a_refused_call_is_denied_and_the_model_reads_why() -> None:
    """It does not run; the others of its turn do."""
    ran: list[str] = []

    @tool(risk="read")
    async def note(what: str) -> str:
        ran.append(what)
        return "noted"

    async def before(call: ToolCall) -> Refuse | None:
        return Refuse("that is private") if call.arguments["what"] == "diary" else None

    script = [[Call("note", {"what": "diary"}), Call("note", {"what": "weather"})], "ok"]
    talk, transport = session(script, tools=[note], hooks=Hooks(before_tool=before))
    events(talk)
    assert ran == ["weather"]
    assert results(talk) == [("denied", "Refused by a hook: that is private."), ("complete", "noted")]
    assert b"that is private" in transport.exchanges[-1].body
    sound(talk)


def test_changed_arguments_are_checked_like_a_models() -> None:
    """Arguments that do not fit the tool never reach it: the call is denied."""

    async def before(call: ToolCall) -> ToolCall:
        return replace(call, arguments={"town": 3})

    talk, _ = session([[PARIS], "ok"], hooks=Hooks(before_tool=before))
    events(talk)
    assert [status for status, _ in results(talk)] == ["denied"]
    assert talk.telemetry.read("tool_calls_invalid_args") == 0  # not the model's fault
    assert [item.code for item in talk.history.diagnostics] == ["hook_failed"]
    sound(talk)


def test_policy_and_approval_judge_what_the_hook_made_of_a_call() -> None:
    """The user is asked about the arguments that will run; edited ones pass the hooks again."""
    asked: list[Any] = []
    wrote: list[str] = []

    @tool(risk="write")
    async def write(path: str) -> str:
        wrote.append(path)
        return "written"

    async def before(call: ToolCall) -> ToolCall | Refuse | None:
        if "secret" in call.arguments["path"]:
            return Refuse("secrets stay")
        return replace(call, arguments={"path": "safe/" + call.arguments["path"].removeprefix("safe/")})

    async def approver(request: ApprovalRequest) -> Decision:
        asked.append(request.arguments["path"])
        return {
            "safe/a": request.once(),
            "safe/b": request.edit({"path": "c"}),
            "safe/c": request.once(),
            "safe/d": request.edit({"path": "secret"}),
        }[request.arguments["path"]]

    script = [[Call("write", {"path": path}) for path in "abd"], "ok"]
    talk, _ = session(script, tools=[write], hooks=Hooks(before_tool=before), approver=approver)
    events(talk)
    assert asked == ["safe/a", "safe/b", "safe/c", "safe/d"]
    assert wrote == ["safe/a", "safe/c"]
    assert [item.changed_arguments for item in talk.history.ledger] == [
        {"path": "safe/a"},
        {"path": "safe/c"},
        None,
    ]
    assert [item.status for item in talk.history.ledger] == ["complete", "complete", "denied"]
    sound(talk)


def test_a_result_can_be_changed_and_withheld() -> None:
    """The history and the model get what the hook gave; a withheld one still says that the tool ran."""

    async def after(call: ToolCall, outcome: Outcome) -> Outcome | Refuse:
        if call.arguments["city"] == "Oslo":
            return Refuse("Oslo is classified")
        return replace(outcome, content=(Text(outcome.text.replace("18", "[n]")),))

    talk, transport = session(
        [[PARIS, Call("weather", {"city": "Oslo"})], "ok"], hooks=Hooks(after_tool=after)
    )
    seen = events(talk)
    assert results(talk) == [
        ("complete", "[n] degrees in Paris"),
        ("error", "weather has run, but its result was withheld. Refused by a hook: Oslo is classified."),
    ]
    assert [event.outcome.text for event in seen if isinstance(event, ToolResult)] == [
        text for _, text in results(talk)
    ]
    assert b"18 degrees" not in transport.exchanges[-1].body
    sound(talk)


def test_output_of_a_stopped_tool_that_no_hook_has_seen_reaches_nobody() -> None:
    """What a tool had put out when it was stopped would pass by the hook: it is left out."""

    @tool(risk="read", timeout=5)
    async def leak(ctx: ToolContext) -> str:
        """Leak."""
        ctx.output("top secret")
        await asyncio.sleep(60)
        return "never"

    talk, _ = session([[Call("leak", {})], "ok"], tools=[leak], hooks=Hooks(after_tool=nothing))
    events(talk)
    [(status, text)] = results(talk)
    assert status == "error" and "longer than 5 s" in text and "secret" not in text


def test_a_hook_cannot_change_what_is_not_its_to_change() -> None:
    """The target of a request, the name of a call and the fate of one that ran are not a hook's."""

    async def elsewhere(request: ModelRequest) -> ModelRequest:
        return replace(request, target=replace(request.target, model="other"))

    async def renamed(call: ToolCall) -> ToolCall:
        return replace(call, name="slow")

    async def undone(call: ToolCall, outcome: Outcome) -> Outcome:
        return Outcome("denied", "it never ran")

    talk, _ = session(["hi"], hooks=Hooks(before_model=elsewhere))
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and "session.switch()" in str(failed.error)
    for hooks, expected in ((Hooks(before_tool=renamed), "denied"), (Hooks(after_tool=undone), "error")):
        talk, _ = session([[PARIS], "ok"], hooks=hooks)
        events(talk)
        assert [status for status, _ in results(talk)] == [expected]


def test_several_hooks_are_asked_in_order_before_and_in_reverse_after() -> None:
    """Each sees what the one before made of it."""
    order: list[str] = []

    def named(name: str) -> Hooks:
        async def before(call: ToolCall) -> ToolCall:
            order.append(f"before {name} {call.arguments['city']}")
            return replace(call, arguments={"city": name})

        async def after(call: ToolCall, outcome: Outcome) -> Outcome:
            order.append(f"after {name} {outcome.text}")
            return replace(outcome, content=(Text(name),))

        return Hooks(before_tool=before, after_tool=after)

    talk, _ = session([[PARIS], "ok"], hooks=[named("A"), named("B")])
    events(talk)
    assert order == ["before A Paris", "before B A", "after B 18 degrees in B", "after A B"]
    assert results(talk) == [("complete", "A")]


def test_what_is_no_hook_is_refused_at_once() -> None:
    """A plain function in place of Hooks says what to write."""
    with pytest.raises(UsageError, match="Hooks"):
        Session("openai:gpt-5.1", hooks=[nothing], tools=[weather])  # type: ignore[list-item]


def test_a_request_without_a_tool_that_history_names_is_still_accepted() -> None:
    """A hook that hides every tool after a call was made: each provider still takes the request."""

    async def before(request: ModelRequest) -> ModelRequest:
        added = (ToolSpec("unheard_of", "Nobody has this."),)
        return replace(request, tools=added if any(request.outcomes) else request.tools)

    for target in ("anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-pro", "mistral:mistral-large-latest"):
        talk, transport = session([[PARIS], "Done."], target, hooks=Hooks(before_model=before))
        assert isinstance(events(talk)[-1], Complete) and transport.refusals == []
