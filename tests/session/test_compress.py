"""Compression: what a cut may never part, what stays, and that all of it can be had again."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from tests.laws.generate import conversation
from tests.laws.share import seeds
from tests.laws.targets import NAMES, TARGETS
from tests.session.talk import PLACES, events, session, statuses, virtually
from tests.sim import oracles

from turnout import History, UsageError
from turnout.model import ModelTurn, Outcome, SystemTurn, Text, ToolCall, Turn, Usage, UserTurn
from turnout.plain import loads
from turnout.session.compress import DIGEST, INSTRUCTION, CompressPolicy
from turnout.session.events import Complete, Failed
from turnout.session.session import Session
from turnout.simulate import Call, Delay, HttpError, Reply, Say
from turnout.tools.declare.tool import tool

SUMMARY = "the summary"
EVERY = {**PLACES, **{name: "key" for place in TARGETS for name in place.provider.key_variables}}


def wordy(asked: Any) -> Any:
    """A model that summarises when it is asked to, and else says a little."""
    return SUMMARY if "Summarise our conversation" in asked.user else "ok"


def looping(rounds: int, prompt: str = "fix it", output: str = "found") -> History:
    """One prompt, and a tool loop of so many rounds with two calls each."""
    history = History("loop")
    history.user(prompt)
    for number in range(rounds):
        calls = [ToolCall(f"c{number}{side}", "look", {"n": number}) for side in "ab"]
        turn = history.reply("openai:gpt-5.1", [Text(f"round {number}"), *calls])
        for call in turn.tool_calls:
            history.settle(call.id, Outcome("complete", f"{output} {number}"))
    history.seal()
    return history


def compact(talk: Session) -> bool:
    return virtually(talk.compact())


def keys(turns: Any) -> list[str]:
    return [turn.key for turn in turns]


def state(history: History) -> tuple[Any, ...]:
    """Everything that a reader of a history could see."""
    return list(history.turns), list(history.ledger), history.summary, dict(history.shortened_results)


# The laws


@pytest.mark.parametrize("shard", [0, 1])
def test_every_provider_can_read_what_is_left_and_all_can_be_had_again(
    shard: int,
) -> None:
    """Random conversations, policies and pins: the laws of compression, one after the other."""
    for seed in seeds(shard, of=400):
        dice = Random(seed)
        history = conversation(seed).history
        history.user("And now?")
        policy = CompressPolicy(
            keep_turns=dice.choice([1, 2, 5, 8]),
            output=dice.choice([10, 2_000]),
            strategy=dice.choice(["prune", "truncate", "summarise"]),
            target=dice.choice([None, dice.choice(NAMES)]),
        )
        talk, transport = session(
            wordy, dice.choice(NAMES), history=history, compress=policy, environment=EVERY
        )
        for turn in dice.sample(list(history.turns), min(2, len(history.turns))):
            talk.pin(turn.key)
        _compact_and_check(talk, policy, f"seed {seed}")
        assert [seen.problems for seen in transport.refusals] == [], f"seed {seed}"


def _compact_and_check(talk: Session, policy: CompressPolicy, where: str) -> None:
    history, pins = talk.history, talk.compressor.pins
    before, log = state(history), list(history.entries)
    recent: list[Turn] = list(history.turns)[-policy.keep_turns :]
    compact(talk)
    after = list(history.turns)
    oracles.sound(history)
    oracles.readable_by_all(history, talk.tool_specs())
    oracles.replayable(history)
    assert after[len(after) - len(recent) :] == recent, f"{where}: recent turns stay whole"
    assert pins & set(keys(before[0])) <= set(keys(after)), f"{where}: pinned turns stay"
    assert history.entries[: len(log)] == log, f"{where}: the log keeps everything"
    assert not set(history.shortened_results) & _calls(recent) - set(before[3]), (
        f"{where}: recent results too"
    )
    if len(history.entries) > len(log):
        history.rewind(before[0][-1].key)
        assert state(history) == before, f"{where}: it can be undone"


def _calls(turns: list[Turn]) -> set[str]:
    return {call.id for turn in turns if isinstance(turn, ModelTurn) for call in turn.tool_calls}


@pytest.mark.parametrize("keep", [1, 2, 3, 5])
@pytest.mark.parametrize("target", ["openai:gpt-5.1", "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-pro"])
def test_a_cut_may_fall_between_rounds_of_one_tool_loop_and_its_prompt_is_kept(
    target: str, keep: int
) -> None:
    """Thirty rounds after one prompt: the prompt and the latest rounds stay, each call with its result."""
    talk, transport = session(wordy, target, history=looping(30), compress=CompressPolicy(keep_turns=keep))
    assert compact(talk)
    assert transport.exchanges[-1].body.count(b"found") >= 2 * (
        30 - keep
    )  # whoever summarises reads the results
    assert [turn.blocks[0] for turn in talk.history.turns] == [
        Text("fix it"),
        *(Text(f"round {number}") for number in range(30 - keep, 30)),
    ]
    for _ in range(3):
        assert isinstance(events(talk, "on")[-1], Complete)
    assert transport.refusals == []
    assert compact(talk) and talk.history.turns[0].blocks[0] != Text("fix it")  # that loop is over


def test_everything_that_set_off_a_loop_is_its_prompt() -> None:
    """Messages that were queued together are kept together, whatever the system says in between."""
    history = History("h")
    history.user("old")
    history.reply("openai:gpt-5.1", "yes")
    history.user("one")
    history.user("two")
    for number in range(4):
        turn = history.reply("openai:gpt-5.1", [ToolCall(f"c{number}", "look", {})])
        history.settle(turn.tool_calls[0].id, Outcome("complete", "found"))
        history.note_system("Be quick.")
    talk, _ = session(wordy, history=history, compress=CompressPolicy(keep_turns=3))
    assert compact(talk)
    assert [turn.blocks for turn in talk.history.turns[:2]] == [(Text("one"),), (Text("two"),)]
    assert [type(turn) for turn in talk.history.turns[2:]] == [SystemTurn, ModelTurn, SystemTurn]


# What stays, by the user's wish


def test_pinned_turns_stay_through_one_compaction_after_the_other() -> None:
    """A pinned prompt, and a pinned reply with its calls and their results, uncut; unpinned they go."""
    talk, transport = session(
        wordy, history=looping(3, output="x" * 5_000), compress=CompressPolicy(keep_turns=1, output=10)
    )
    events(talk, "next")
    prompt, reply = talk.history.turns[0].key, talk.history.turns[1].key
    talk.pin(prompt)
    talk.pin(reply)
    for number in range(3):
        assert compact(talk)
        assert keys(talk.history.turns)[:2] == [prompt, reply]
        assert isinstance(events(talk, f"prompt {number}")[-1], Complete)
    assert b"x" * 5_000 in transport.exchanges[-1].body and transport.refusals == []
    talk.unpin(reply)
    assert compact(talk) and keys(talk.history.turns)[0] == prompt and reply not in keys(talk.history.turns)


def test_only_a_turn_that_is_there_can_be_pinned() -> None:
    """A typing error is told at once."""
    talk, _ = session(["hi"])
    with pytest.raises(UsageError, match="pin one of"):
        talk.pin("nowhere")


def test_pins_are_in_the_log() -> None:
    """A session that is opened again knows them."""
    talk, _ = session(wordy, history=looping(4), compress=CompressPolicy(keep_turns=1))
    pinned = talk.history.turns[2].key
    talk.pin(pinned)
    again = History.replay(talk.history.entries, talk.history.key)
    later, _ = session(wordy, history=again, compress=CompressPolicy(keep_turns=1))
    assert compact(later) and pinned in keys(later.history.turns)


def test_when_all_that_could_go_is_pinned_nothing_is_done() -> None:
    """No summary of nothing, and no compaction without end."""
    talk, transport = session(wordy, history=looping(2), compress=CompressPolicy(keep_turns=2))
    talk.pin(talk.history.turns[0].key)
    assert not compact(talk) and list(transport.exchanges) == []


@pytest.mark.parametrize("rounds", [3, 4])
def test_a_conversation_of_no_more_than_the_recent_turns_is_left_alone(rounds: int) -> None:
    """There is nothing before them to cut."""
    talk, transport = session(wordy, history=looping(rounds), compress=CompressPolicy(keep_turns=5))
    assert not compact(talk) and list(transport.exchanges) == [] and len(talk.history.turns) == rounds + 1


# The head is stable


def test_between_compactions_the_bytes_already_sent_stay_a_prefix() -> None:
    """With every round over the trigger, the head changes once in a while and not every time."""

    def reply(asked: Any) -> Any:
        if "Summarise our conversation" in asked.user:
            return SUMMARY
        return Reply((Say("ok"),), usage=Usage(input=390_000, output=10))

    talk, transport = session(reply, compress=CompressPolicy(keep_turns=6), tools=[])
    for number in range(20):
        events(talk, f"prompt {number}")
    sent = [seen.body for seen in transport.exchanges if INSTRUCTION.encode() not in seen.body]
    stable = [later.startswith(earlier[: -len("]}")]) for earlier, later in pairwise(sent)]
    assert stable.count(False) >= 4  # it is compressed again and again
    assert not any(not one and not two for one, two in pairwise(stable))
    assert transport.refusals == []


def test_what_pruning_saved_counts() -> None:
    """Where shortening old outputs is enough, no summary is asked for."""

    @tool(risk="read")
    async def dump(n: int) -> str:
        return f"{n} " + "x" * 20_000

    usage = [Usage(input=1_000, output=1)] * 5 + [Usage(input=110_000, output=1)]
    script = iter([*([Call("dump", {"n": n})] for n in range(5)), [Say("done")]])
    talk, transport = session(
        lambda asked: Reply(tuple(next(script, [Say("ok")])), usage=usage.pop(0) if usage else None),
        "openai:gpt-4o",
        tools=[dump],
        compress=CompressPolicy(keep_turns=2),
    )
    events(talk)
    seen = events(talk, "on")
    assert "compressing" in statuses(seen) and len(talk.history.shortened_results) == 5
    assert talk.history.summary == "" and not any(
        INSTRUCTION.encode() in sent.body for sent in transport.exchanges
    )
    assert talk.compressor.used_tokens() < 20_000


# Summaries


@pytest.mark.parametrize("target", NAMES)
def test_any_target_can_write_the_summary(target: str) -> None:
    """A history with thinking, calls and results of one provider, summarised by every other."""
    history = next(found for seed in range(99) if len((found := conversation(seed).history).turns) > 9)
    history.seal()
    talk, transport = session(
        wordy,
        "openai:gpt-5.1",
        history=history,
        compress=CompressPolicy(keep_turns=1, target=target),
        environment=EVERY,
    )
    assert compact(talk) and talk.history.summary == SUMMARY
    assert transport.refusals == [] and len(transport.exchanges) == 1


def test_an_earlier_summary_goes_into_the_next_and_older_turns_do_not() -> None:
    """Each summary reads what is visible: the request for it does not grow with the log."""
    asked: list[bytes] = []
    talk, transport = session(
        lambda request: f"summary {len(asked)}" if "Summarise" in request.user else "ok",
        compress=CompressPolicy(keep_turns=2, automatic=False),
    )
    for number in range(4):
        for each in range(3):
            events(talk, f"prompt {number}.{each}")
        assert compact(talk)
        asked.append(transport.exchanges[-1].body)
    assert b"summary 2" in asked[3] and b"prompt 3.0" in asked[3]
    assert b"prompt 0." not in asked[3] and b"prompt 1." not in asked[3]
    assert len(asked[3]) < len(asked[1]) * 1.2


def test_a_summary_costs_what_it_costs() -> None:
    """What the summary used is part of what the session used."""
    talk, _ = session(wordy, history=looping(4), compress=CompressPolicy(keep_turns=1))
    assert compact(talk) and talk.usage.input and talk.cost


@pytest.mark.parametrize("failure", [HttpError("quota"), HttpError("invalid_request"), ""])
def test_without_a_summary_the_gist_is_told_in_our_own_words(failure: Any) -> None:
    """A model that fails or says nothing cannot stop the session from making room."""
    talk, _ = session(lambda asked: failure, history=looping(300), compress=CompressPolicy(keep_turns=2))
    assert compact(talk)
    assert "round 297" in talk.history.summary and len(talk.history.summary) <= DIGEST + 500
    oracles.readable_by_all(talk.history, talk.tool_specs())


def test_a_summary_that_is_too_long_to_ask_for_leaves_out_the_oldest() -> None:
    """The one who summarises has a window too: it is asked again with less, and not without end."""

    def narrow(asked: Any) -> Any:
        told = asked.body
        return HttpError("context_too_long") if len(str(told)) > 4_000 else SUMMARY

    talk, transport = session(narrow, history=looping(40), compress=CompressPolicy(keep_turns=2))
    assert compact(talk) and talk.history.summary == SUMMARY
    assert len(transport.exchanges) <= 6


# When the provider says that it is too long


def test_too_long_is_met_by_keeping_less_and_less() -> None:
    """Whatever our own count says: output by output and turn by turn, until the provider takes it."""

    def narrow(asked: Any) -> Any:
        if "Summarise our conversation" in asked.user:
            return SUMMARY
        return HttpError("context_too_long") if len(str(asked.body)) > 9_000 else "It fits."

    history = looping(12, output="y" * 3_000)
    talk, transport = session(narrow, history=history, compress=CompressPolicy(output=100))
    last = events(talk, "go on")[-1]
    assert isinstance(last, Complete) and last.turn.text == "It fits."
    assert talk.history.turns[-2].blocks == (Text("go on"),)
    bodies = [seen.body for seen in transport.exchanges]
    assert len(set(bodies)) == len(bodies)
    assert transport.refusals == []


def test_too_long_without_any_output_to_shorten_keeps_fewer_turns() -> None:
    """Turns of nothing but words: about half of them each time."""

    def narrow(asked: Any) -> Any:
        if "Summarise our conversation" in asked.user:
            return SUMMARY
        return HttpError("context_too_long") if len(str(asked.body)) > 7_000 else "It fits."

    history = History("words")
    for number in range(10):
        history.user(f"{number} " + "w" * 2_000)
        history.reply("openai:gpt-5.1", f"{number} " + "v" * 2_000)
    talk, transport = session(narrow, history=history)
    assert isinstance(events(talk, "go on")[-1], Complete)
    assert 3 <= len(talk.history.turns) <= 4 and talk.history.summary == SUMMARY
    assert transport.refusals == []


def test_one_huge_result_does_not_brick_a_session() -> None:
    """The latest result alone is over the window: in the end it is cut too."""

    @tool(risk="read")
    async def dump() -> str:
        return "z" * 30_000

    def narrow(asked: Any) -> Any:
        if "Summarise our conversation" in asked.user:
            return SUMMARY
        if len(str(asked.body)) > 20_000:
            return HttpError("context_too_long")
        return "Fine." if "zzz" in str(asked.body) else [Call("dump", {})]

    talk, transport = session(narrow, tools=[dump])
    assert isinstance(events(talk)[-1], Complete) and transport.refusals == []
    [interaction] = talk.history.ledger
    assert interaction.outcome is not None and len(interaction.outcome.text) == 30_000


def test_when_nothing_is_left_to_give_the_run_says_so_and_the_session_goes_on() -> None:
    """A prompt that is too long by itself fails with the provider's reason; a shorter one is answered."""
    talk, _ = session(
        lambda asked: HttpError("context_too_long") if "long" in asked.user else "Fine.",
        compress=CompressPolicy(keep_turns=1),
    )
    failed = events(talk, "long " * 100)[-1]
    assert isinstance(failed, Failed) and failed.kind == "context_too_long"
    oracles.readable_by_all(talk.history)
    assert isinstance(events(talk, "short")[-1], Complete)


def test_the_window_and_the_count_are_the_providers_where_it_says_so() -> None:
    """The last count, and an estimate of what came since; the window of the model that is asked next."""
    usage = Usage(input=150_000, output=1_000)
    talk, _ = session([Reply((Say("ok"),), usage=usage)], compress=CompressPolicy(trigger=0.8), tools=[])
    events(talk)
    assert talk.compressor.used_tokens() == 151_000
    asking = talk.history.reply("openai:gpt-5.1", [ToolCall("c", "look", {})], usage=Usage(150_000, 0))
    talk.history.settle(asking.tool_calls[0].id, Outcome("complete", "w" * 4_000))
    assert talk.compressor.used_tokens() == 151_000
    talk.history.user("w" * 40_000)
    assert talk.compressor.used_tokens() == 161_000
    assert not talk.compressor.due(talk.target)
    talk.switch("anthropic:claude-sonnet-4-5")
    assert talk.compressor.due(talk.target)
    talk.compressor.policy = replace(talk.compressor.policy, automatic=False)
    assert not talk.compressor.due(talk.target)


def test_a_user_turn_is_never_mistaken_for_a_loop() -> None:
    """A cut before the user's words needs no prompt: nothing is kept of what came before."""
    history = History("h")
    for number in range(6):
        history.user(f"question {number}")
        history.reply("openai:gpt-5.1", f"answer {number}")
    talk, transport = session(wordy, history=history, compress=CompressPolicy(keep_turns=4))
    assert compact(talk)
    assert [type(turn) for turn in talk.history.turns] == [UserTurn, ModelTurn] * 2
    events(talk, "on")
    assert loads(transport.exchanges[-1].body)["messages"][0]["role"] == "user"


# Whose window it is


LARGE, SMALL = "gemini:gemini-2.5-pro", "openai:gpt-4o"  # a million tokens, and 128,000


def longest_body(transport: Any, provider: str) -> int:
    """About how many tokens the longest request to this provider had."""
    return max(len(seen.body) // 4 for seen in transport.exchanges if seen.provider == provider)


def test_room_is_made_for_the_target_that_is_asked() -> None:
    """Turns go round between a large window and a small one: the small one never gets more than it takes."""
    talk, transport = session(wordy, LARGE, fallback=[SMALL], route="round-robin")
    for number in range(8):
        assert isinstance(events(talk, f"{number} " + "w" * 160_000)[-1], Complete)
    assert longest_body(transport, "openai") < 128_000
    assert [seen.provider for seen in transport.exchanges if b"Summarise our" not in seen.body] == [
        "gemini",
        "openai",
    ] * 4
    assert transport.refusals == []


def test_room_is_made_for_the_target_that_takes_over() -> None:
    """The large window fails, the small one takes over in mid turn: it is not sent all that there is."""
    talk, transport = session(
        lambda asked: (
            HttpError("quota") if asked.provider == "gemini" and "last" in asked.user else wordy(asked)
        ),
        LARGE,
        fallback=[SMALL],
    )
    for number in range(5):
        events(talk, f"{number} " + "w" * 160_000)
    assert {seen.provider for seen in transport.exchanges} == {"gemini"} and talk.history.summary == ""
    assert isinstance(events(talk, "last")[-1], Complete)
    assert 0 < longest_body(transport, "openai") < 128_000


def test_a_compaction_of_a_moment_ago_does_not_excuse_what_cannot_fit() -> None:
    """Two long prompts after a compaction are more than the window: it is made shorter once more."""
    talk, transport = session(wordy, SMALL, history=looping(12))
    assert compact(talk)
    for letter in "ab":
        assert isinstance(events(talk, letter * 300_000)[-1], Complete)
    assert longest_body(transport, "openai") < 128_000


def test_who_is_switched_to_while_room_is_made_is_asked_next() -> None:
    """The user speaks while the summary is written: the request goes where they said."""
    talk, transport = session(
        lambda asked: [SUMMARY, Delay(30)] if "Summarise our" in asked.user else wordy(asked), SMALL
    )
    for number in range(9):
        talk.history.user(f"{number} " + "w" * 50_000)
        talk.history.reply(SMALL, "ok")

    async def switching() -> list[Any]:
        asyncio.get_running_loop().call_later(10, talk.switch, "anthropic:claude-sonnet-4-5")
        return [event async for event in talk.run("go on")]

    assert isinstance(virtually(switching())[-1], Complete)
    assert [seen.provider for seen in transport.exchanges] == ["openai", "anthropic"]
