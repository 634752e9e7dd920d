"""S-37 to S-51: ids and names that one provider gives and another refuses."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.build import call, conversation, model, settled, user
from tests.handoff.content import called
from tests.handoff.histories import SCENARIOS
from tests.scenarios.reading import (
    CLAUDE,
    FAMILIES,
    GEMINI,
    GEMINI_3,
    KIMI,
    MISTRAL,
    OPENAI,
    RESPONSES,
    heard,
    ids,
    messages,
    request,
)

from turnout import History, decode, render, tool
from turnout.ids import FORMATS, IdProjection, call_id
from turnout.ids import mistral as mistral_ids
from turnout.tools.declare.registry import FoundTool, Registry

NINE = re.compile(r"[a-zA-Z0-9]{9}")


def test_s_37_kimi_ids_into_anthropic() -> None:
    """functions.read_file:3 would break Claude's pattern; it gets an id of its own form."""
    assert all(re.fullmatch(r"toolu_[a-zA-Z0-9_-]{1,40}", id) for id in ids("s_37_kimi_ids", CLAUDE))


def test_s_38_any_foreign_id_into_mistral() -> None:
    """Whatever the ids were, Mistral reads nine alphanumerics, and no two are the same."""
    found = ids("s_38_ids_of_everyone", MISTRAL)
    assert len(found) == 7
    assert all(NINE.fullmatch(id) for id in found)


@pytest.mark.parametrize("to", FAMILIES)
def test_s_39_ids_that_truncation_would_join(to: str) -> None:
    """Long ids with one beginning stay apart everywhere, Mistral's nine characters too."""
    assert len(set(ids("s_39_ids_that_truncation_would_join", to))) == 8


def test_s_40_an_id_that_equals_another_ids_hash_is_salted_again() -> None:
    """If a candidate is taken, the next one is used: deterministic, and in transcript order."""
    first = call_id("openai", "a", "f", "h.1", 0)
    taken = next(iter(mistral_ids(first, "f", 0)))
    projection = IdProjection(FORMATS["mistral"])
    projection.add("hist_tool_other", "f", preferred=taken)
    again = projection.add(first, "f")
    assert again != taken and NINE.fullmatch(again)
    assert again == list(_first(mistral_ids(first, "f", 0), 2))[1]


def _first(candidates: Any, count: int) -> Any:
    return (candidate for _, candidate in zip(range(count), candidates, strict=False))


@pytest.mark.parametrize("to", FAMILIES)
def test_s_41_ids_that_deletion_would_join(to: str) -> None:
    """Ids that differ in punctuation only stay two ids."""
    assert len(set(ids("s_41_ids_that_deletion_would_join", to))) == 6


@pytest.mark.parametrize(("to", "longest"), [(OPENAI, 40), (RESPONSES, 64), (CLAUDE, 64), (GEMINI, 64)])
def test_s_42_a_very_long_id_is_bounded_on_both_sides(to: str, longest: int) -> None:
    """Calls and outputs share the bounded id."""
    assert all(len(id) <= longest for id in ids("s_42_very_long_ids", to))


def test_s_43_item_ids_are_never_sent_and_never_pair() -> None:
    """Only call_id pairs; a stateless request carries no item id at all."""
    items = messages("s_43_item_ids_beside_call_ids", RESPONSES)
    assert all("id" not in item for item in items)
    calls = [item["call_id"] for item in items if item["type"] == "function_call"]
    outputs = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    assert calls == outputs and all("|" not in id for id in calls)


@pytest.mark.parametrize("to", FAMILIES)
def test_s_44_an_output_without_call_id_is_matched_by_position(to: str) -> None:
    """The text of the output reaches every provider as the result of the call before it."""
    assert [text for _, text in heard("s_44_output_without_call_id", to).results] == ["what the file says"]


@pytest.mark.parametrize("to", FAMILIES)
def test_s_45_a_missing_id_is_made_and_stays_the_same(to: str) -> None:
    """Calls without ids get one each, from turn and place; building the history again gives the same."""
    first, again = ids("s_45_calls_without_ids", to), ids("s_45_calls_without_ids", to)
    assert len(first) == 2 and first == again and all(first)


@pytest.mark.parametrize("to", FAMILIES)
def test_s_46_parallel_calls_of_one_name_are_matched_by_position(to: str) -> None:
    """Three Gemini calls without ids keep their own arguments and their own results, in order."""
    found = heard("s_46_parallel_calls_of_one_name_without_ids", to)
    assert [arguments for _, _, arguments in found.calls] == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [re.sub(r"\D", "", text) for _, text in found.results] == ["1", "2", "3"]


def test_s_47_kimi_counts_calls_over_the_whole_conversation() -> None:
    """The weights expect functions.{name}:{index} with one running index."""
    assert ids("s_47_many_kimi_calls", KIMI) == [f"functions.read_file:{n}" for n in range(5)]


@pytest.mark.parametrize("to", ["openrouter:moonshotai/kimi-k2.5", "vllm:moonshotai/Kimi-K2-Thinking"])
def test_s_47_kimi_behind_other_hosts_counts_too(to: str) -> None:
    """OpenRouter and vLLM get `functions.read_file:4` for the fifth call of a Kimi model."""
    assert ids("s_47_many_kimi_calls", to)[-1] == "functions.read_file:4"


def test_s_48_after_compaction_kimi_counts_from_zero_again() -> None:
    """Both sides of each pair are rendered together, so the new numbers agree."""
    assert ids("s_48_kimi_calls_after_compaction", KIMI) == [f"functions.read_file:{n}" for n in range(3)]


TOUR = (OPENAI, CLAUDE, KIMI, MISTRAL, GEMINI_3, OPENAI)


def test_s_49_a_provider_change_every_turn_keeps_ids_and_bytes() -> None:
    """Coming back to a provider, it reads the same bytes as before, and what is new after them."""
    history = conversation(user("go"))
    sent: dict[str, bytes] = {}
    for at, to in enumerate((*TOUR, *TOUR)):
        request_ = render(history, to)
        if to in sent:
            assert messages_of(request_).startswith(sent[to])
        sent[to] = messages_of(request_, whole=False)
        turn = history.reply(to, [f"turn {at}", call("read_file", f"call_{at % 2}", n=at)])
        history.settle(turn.tool_calls[0].id, settled("", f"result {at}")[1][1])


def messages_of(made: Any, *, whole: bool = True) -> bytes:
    """The bytes of a request's messages; without the last one, into which the next may merge."""
    body = made.body
    name = next(name for name in (b'"messages":[', b'"contents":[', b'"input":[') if name in body)
    start = body[body.index(name) + len(name) :]
    if whole:
        return bytes(start)
    kept = made.json.get("messages") or made.json.get("contents") or made.json["input"]
    return bytes(start[: len(start) - 2 - len(msgspec.json.encode(kept[-1]))])


def projected() -> str:
    history = SCENARIOS["s_49_another_provider_every_turn"]()
    return str([list(render(history, to).ids.values()) for to in FAMILIES])


def test_s_49_ids_are_the_same_in_another_process() -> None:
    """No clock, no chance, no order of hashing: another process projects the same ids."""
    code = (
        "from tests.handoff.histories import SCENARIOS; from turnout import render;"
        "history = SCENARIOS['s_49_another_provider_every_turn']();"
        f"print([list(render(history, to).ids.values()) for to in {FAMILIES}])"
    )
    root = Path(__file__).parents[2]
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env={"PYTHONPATH": str(root), "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told == f"{projected()}\n"


PATTERNS = {
    OPENAI: r"[a-zA-Z0-9_-]{1,64}",
    RESPONSES: r"[a-zA-Z0-9_-]{1,64}",
    CLAUDE: r"[a-zA-Z0-9_-]{1,128}",
    GEMINI: r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    MISTRAL: r"[a-zA-Z0-9_-]{1,64}",
    KIMI: r"[a-zA-Z0-9_-]{1,64}",
}


@pytest.mark.parametrize(("to", "pattern"), PATTERNS.items())
def test_s_50_names_are_projected_one_to_one(to: str, pattern: str) -> None:
    """A name that the target refuses gets one that it takes; two tools never share one."""
    names = [name for _, name, _ in heard("s_50_names_that_others_refuse", to).calls]
    assert all(re.fullmatch(pattern, name) for name in names)
    assert len(set(names)) == 9


@pytest.mark.parametrize("to", PATTERNS)
def test_s_50_a_call_to_a_projected_name_is_resolved_back(to: str) -> None:
    """`request.names` is the way back from the name on the wire to the tool's own."""
    tools = [{"name": "server.tool"}, {"name": "read_file"}, {"name": "9 lives!"}]
    made = render(History("h"), to, tools=tools)
    sent = list(made.names)
    assert [made.names[name] for name in sent] == ["server.tool", "read_file", "9 lives!"]
    assert all(re.fullmatch(PATTERNS[to], name) for name in sent)


def test_s_50_adding_a_tool_never_renames_an_old_call() -> None:
    """A name's projection depends on that name alone."""
    history = conversation(user("go"), model(call("server.tool", "1")), settled("1"))
    before = render(history, OPENAI, tools=[{"name": "server.tool"}]).json["messages"]
    more = [{"name": "server.tool"}, {"name": "server_tool"}, {"name": "server/tool"}]
    assert render(history, OPENAI, tools=more).json["messages"] == before


@pytest.mark.parametrize("to", FAMILIES)
def test_s_50_a_tool_that_no_longer_exists_is_declared_as_a_stub(to: str) -> None:
    """History calls it, so it must be known; the model is told not to call it."""
    made = request("s_66_calls_without_tools", to, tools=[{"name": "other"}])
    assert "gone_tool" in made.body.decode()
    assert any("gone_tool" in line for line in made.report.changes)


@pytest.mark.parametrize(
    "written", ["functions.read_file", "call_functionsread_file0", " Read_File ", "read_file"]
)
def test_s_51_a_name_in_another_spelling_is_resolved_to_the_registered_one(written: str) -> None:
    """A prefix, a counter, capitals and spaces around a tool name do not prevent its call."""
    registry = Registry([tool_named("read_file"), tool_named("write_file")])
    found = registry.find(written)
    assert isinstance(found, FoundTool) and found.tool.name == "read_file"


def tool_named(name: str) -> Any:
    def function(path: str) -> str:
        """A tool."""
        return path

    function.__name__ = name
    return tool(function)


def test_s_51_a_kimi_id_is_decoded_as_an_id_and_the_name_as_a_name() -> None:
    """What a host puts before the name is no part of it."""
    body = {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "functions.read_file:0",
                            "type": "function",
                            "function": {"name": "read_file", "arguments": "{}"},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ]
    }
    turn = decode(KIMI, body)
    assert [(item.name, item.raw_id) for item in turn.tool_calls] == [("read_file", "functions.read_file:0")]


def test_the_scenarios_of_this_group_are_all_there() -> None:
    """Each of S-37 to S-51 has a history in the matrix, but for S-40, which is about one projection."""
    known = {name[:4] for name in SCENARIOS}
    assert {f"s_{number}" for number in range(37, 52) if number != 40} <= known
    assert called("a").turns
