"""S-69 to S-91: reasoning goes back to who wrote it, to nobody else, and where it is demanded it is there."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, find, model, settled, user
from tests.handoff.histories import SCENARIOS
from tests.handoff.reasoning import signed
from tests.scenarios.reading import (
    CLAUDE,
    DEEPSEEK,
    FAMILIES,
    GEMINI,
    GEMINI_3,
    KIMI,
    MISTRAL,
    OPENAI,
    RESPONSES,
    THINKING_KIMI,
    heard,
    messages,
    request,
)

from turnout import History, Outcome, decode, render

SENTINEL = "skip_thought_signature_validator"
OPUS = "anthropic:claude-opus-4-1"


def blocks(scenario: str, to: str, **options: Any) -> list[str]:
    """The types of the blocks that Claude reads as its own words."""
    sent = messages(scenario, to, **options)
    return [
        block["type"] for message in sent if message["role"] == "assistant" for block in message["content"]
    ]


def test_s_69_thinking_of_another_model_is_dropped() -> None:
    """Signed by one Claude, it is nothing to another, also as the latest turn of an open loop."""
    assert blocks("s_69_thinking_signed_by_another_model", CLAUDE) == ["text", "tool_use"]
    assert blocks("s_69_thinking_signed_by_another_model", OPUS) == ["thinking", "text", "tool_use"]


@pytest.mark.parametrize(
    "to",
    [
        "copilot:claude-sonnet-4.5",
        "openrouter:anthropic/claude-sonnet-4.5",
        "anthropic@oauth:claude-opus-4-1",
    ],
)
def test_s_69_thinking_does_not_travel_to_another_door_of_the_same_model(to: str) -> None:
    """A signature belongs to an endpoint too."""
    assert "c2lnbmVk" not in request("s_69_thinking_signed_by_another_model", to).body.decode()


def test_s_70_unsigned_thinking_is_dropped_as_a_whole() -> None:
    """Not only its signature: the block would still be refused."""
    assert blocks("s_70_thinking_without_signature", CLAUDE) == ["tool_use"]


def test_s_71_a_loop_that_began_without_thinking_goes_on_without() -> None:
    """Manual thinking is switched off for this request, and the report says which rule forced it."""
    made = request("s_71_open_loop_without_thinking", CLAUDE, thinking=True)
    assert "thinking" not in made.json
    assert any(line.startswith("ANT-16") for line in made.report.changes)


def test_s_71_signed_thinking_of_its_own_comes_first() -> None:
    """With Claude's own signed thinking before the call, thinking stays enabled in the open loop."""
    made = request("s_73_thinking_apart_from_its_call", CLAUDE, thinking=True)
    assert made.json["thinking"]["type"] == "enabled"
    assert blocks("s_73_thinking_apart_from_its_call", CLAUDE, thinking=True)[0] == "thinking"


def test_s_71_adaptive_thinking_needs_no_such_thing() -> None:
    """A model with adaptive thinking keeps it in a loop that began without a thinking block."""
    made = request("s_71_open_loop_without_thinking", "anthropic:claude-opus-4-8", thinking=True)
    assert made.json["thinking"] == {"type": "adaptive"}


def test_s_71_at_the_next_user_turn_thinking_is_back() -> None:
    """When the loop is answered and the user asks again, thinking is enabled again."""
    history = SCENARIOS["s_71_open_loop_without_thinking"]()
    history.reply(CLAUDE, "done")
    history.user("next")
    assert render(history, CLAUDE, thinking=True).json["thinking"]["type"] == "enabled"


def test_s_72_without_thinking_no_thinking_block_is_sent() -> None:
    """A final answer with thinking is sent as text alone when thinking is off."""
    assert blocks("s_72_thinking_in_the_final_position", CLAUDE, thinking=False) == ["text"]


def test_s_73_thinking_recorded_apart_joins_its_call() -> None:
    """Two assistant messages in a row become one: thinking first, then the call."""
    assert blocks("s_73_thinking_apart_from_its_call", CLAUDE) == ["thinking", "tool_use"]


def test_s_74_what_stood_between_signed_thoughts_still_stands_there() -> None:
    """Positions are counted: an empty text there is replaced by one that may be sent."""
    expected = ["thinking", "text", "thinking", "tool_use"]
    assert blocks("s_74_empty_text_between_signed_thoughts", CLAUDE) == expected
    assert blocks("s_74_empty_text_between_signed_thoughts", OPUS) == ["tool_use"]


def test_s_75_redacted_thinking_goes_back_to_the_byte() -> None:
    """The data of `redacted_thinking` and the signature of the thinking after it are unchanged."""
    content = messages("s_75_redacted_thinking", CLAUDE)[1]["content"]
    assert content[0] == {"type": "redacted_thinking", "data": "aGlkZGVuIHRob3VnaHRz=="}
    assert content[1] == {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}


def items(scenario: str, to: str = RESPONSES, **options: Any) -> list[str]:
    return [item["type"] for item in messages(scenario, to, **options)]


def test_s_76_reasoning_without_a_follower_is_dropped() -> None:
    """Responses gets the two user messages and no reasoning item between them."""
    assert items("s_76_reasoning_with_nothing_after_it") == ["message", "message"]


def test_s_77_items_without_their_reasoning_have_no_ids() -> None:
    """OpenAI accepts a call without its reasoning only if no item has an id."""
    sent = messages("s_77_items_without_their_reasoning", RESPONSES)
    assert not any("id" in item for item in sent)


def test_s_78_reasoning_that_was_not_stored_is_dropped() -> None:
    """Without its encrypted content it cannot be found again; with it, it goes without an id."""
    assert items("s_78_reasoning_that_was_not_stored") == ["message", "function_call", "function_call_output"]
    kept = messages("s_81_reasoning_between_calls", RESPONSES)
    assert all("id" not in item for item in kept)


def test_s_79_a_summary_is_always_there() -> None:
    """A reasoning item that was recorded without `summary` is sent with an empty list."""
    sent = messages("s_79_reasoning_without_summary", RESPONSES)
    assert [item["summary"] for item in sent if item["type"] == "reasoning"] == [[]]


def test_s_80_no_item_is_a_duplicate() -> None:
    """Two reasoning items of one id: without ids nothing can be found twice."""
    assert b"rs_1" not in request("s_80_the_same_reasoning_twice", RESPONSES).body


def test_s_81_reasoning_keeps_its_place_before_its_call() -> None:
    """With two calls, each reasoning item is sent right before the call that followed it."""
    sent = messages("s_81_reasoning_between_calls", RESPONSES)
    order = [item.get("encrypted_content") or item.get("call_id", item["type"]) for item in sent]
    first, second = order[2], order[4]
    assert order == ["message", "Zmlyc3Q=", first, "c2Vjb25k", second, first, second]


def test_s_82_a_chained_request_sends_what_the_chain_does_not_hold() -> None:
    """The output goes under the id that the server knows; its call lives there."""
    history = SCENARIOS["s_82_our_own_chain"]()
    history.settle(find(history, "call_1"), Outcome("complete", "42"))
    made = render(history, RESPONSES, chain=True)
    assert made.json["previous_response_id"] == "resp_1" and made.json["store"] is True
    assert made.json["input"] == [{"type": "function_call_output", "call_id": "call_1", "output": "42"}]


def test_s_82_when_the_parent_is_gone_everything_is_sent() -> None:
    """Expired, another address, compacted: the same history stands on its own."""
    history = SCENARIOS["s_82_our_own_chain"]()
    history.settle(find(history, "call_1"), Outcome("complete", "42"))
    whole = ["message", "message", "function_call", "function_call_output"]
    assert [item["type"] for item in render(history, RESPONSES).json["input"]] == whole
    elsewhere = render(history, "openai-responses@other:gpt-5.1", chain=True)
    assert [item["type"] for item in elsewhere.json["input"]] == whole
    history.compact(history.turns[-1].key, "a file was read", pinned=[history.turns[-1].key])
    compacted = render(history, RESPONSES, chain=True).json
    assert "previous_response_id" not in compacted
    assert [item["type"] for item in compacted["input"]] == whole


@pytest.mark.parametrize("to", FAMILIES)
def test_s_82_an_output_whose_call_lives_at_the_server_survives(to: str) -> None:
    """After `previous_response_id`, the output is still sent to every provider as a result."""
    assert [text for _, text in heard("s_82_goes_on_from_a_stored_response", to).results] == ["42"]


def assistants(scenario: str, to: str, **options: Any) -> list[dict[str, Any]]:
    return [message for message in messages(scenario, to, **options) if message["role"] == "assistant"]


@pytest.mark.parametrize("scenario", ["s_83_kimi_calls_without_reasoning", "s_121_failover_in_an_open_loop"])
@pytest.mark.parametrize("to", [THINKING_KIMI, "kimi:kimi-k2.5", "kimi:kimi-k3"])
def test_s_83_a_thinking_kimi_finds_reasoning_on_every_message_with_calls(scenario: str, to: str) -> None:
    """Its own, or a placeholder that is not empty, also on turns of others."""
    made = request(scenario, to)
    assert all(message["reasoning_content"] == " " for message in assistants(scenario, to))
    assert any("placeholder reasoning_content" in line for line in made.report.changes)


def test_s_83_a_kimi_that_does_not_think_gets_none() -> None:
    """`reasoning_content` is absent for a Kimi model without thinking, and when thinking is off."""
    assert not any("reasoning_content" in m for m in assistants("s_83_kimi_calls_without_reasoning", KIMI))
    off = assistants("s_83_kimi_calls_without_reasoning", "kimi:kimi-k2.5", thinking=False)
    assert not any("reasoning_content" in message for message in off)


def test_s_84_deepseek_gets_its_reasoning_on_every_message() -> None:
    """Messages of other models have an empty `reasoning_content`, because DeepSeek requires the field."""
    sent = assistants("s_84_deepseek_reasoning", DEEPSEEK)
    assert [message["reasoning_content"] for message in sent] == ["because", "clear"]
    foreign = assistants("s_28_speakers_in_a_row", DEEPSEEK)
    assert [message["reasoning_content"] for message in foreign] == ["", ""]


@pytest.mark.parametrize(
    "to",
    [
        "deepseek:deepseek-r1",
        "openrouter:deepseek/deepseek-r1",
        "ollama@chat:deepseek-r1:8b",
        "deepseek:deepseek-chat",
    ],
)
def test_s_84_r1_and_models_that_do_not_think_never_get_it(to: str) -> None:
    """Neither `reasoning_content` nor `reasoning` is sent to them, on any host."""
    for message in assistants("s_84_deepseek_reasoning", to):
        assert not {"reasoning_content", "reasoning"} & set(message)


def test_s_85_a_turn_without_reasoning_meets_the_same_rules() -> None:
    """In a signed loop at Claude, at Kimi, at Gemini 3: a turn that somebody else made is stood in for."""
    name = "s_85_a_synthetic_turn_in_a_thinking_loop"
    made = request(name, CLAUDE, thinking=True)
    assert made.json["thinking"]["type"] == "enabled"  # the loop opened with a thought
    assert [m["reasoning_content"] for m in assistants(name, THINKING_KIMI)] == [" ", " "]
    calls = [
        part for content in messages(name, GEMINI_3) for part in content["parts"] if "functionCall" in part
    ]
    assert [part["thoughtSignature"] for part in calls] == [SENTINEL, SENTINEL]


@pytest.mark.parametrize(
    "to", [OPENAI, "azure:gpt-4o", "groq:llama-3.3-70b-versatile", MISTRAL, "qwen:qwen3-max"]
)
def test_s_86_who_has_no_such_field_never_sees_it(to: str) -> None:
    """Reasoning of a Chat history is not sent to OpenAI, Azure, Groq, Mistral or Qwen."""
    for message in messages("s_86_reasoning_content_in_a_chat_history", to):
        assert not [name for name in message if name.startswith("reasoning")]


def test_s_87_the_first_call_of_each_step_is_signed() -> None:
    """With its own signature, or the documented sentinel; parallel calls carry none; order is kept."""
    contents = messages("s_87_gemini_steps_with_and_without_signature", GEMINI_3)
    calls = [part for content in contents for part in content["parts"] if "functionCall" in part]
    assert [part.get("thoughtSignature") for part in calls] == ["c2lnQQ==", None, SENTINEL]
    assert [part["functionCall"]["name"] for part in calls] == ["a", "b", "c"]


def test_s_87_gemini_2_needs_none() -> None:
    """Gemini 2 does not get the placeholder signature that Gemini 3 gets for unsigned calls."""
    assert SENTINEL.encode() not in request("s_87_gemini_steps_with_and_without_signature", GEMINI).body


def test_s_87_a_signature_stays_where_it_was_when_the_conversation_goes_on() -> None:
    """The sentinel stands in old turns too, so nothing changes when a turn is no longer current."""
    history = SCENARIOS["s_121_failover_in_an_open_loop"]()
    before = render(history, GEMINI_3).json["contents"]
    history.reply(GEMINI_3, "done")
    history.user("next")
    assert render(history, GEMINI_3).json["contents"][: len(before)] == before


def test_s_88_a_foreign_signature_never_reaches_gemini() -> None:
    """The placeholder replaces the signature of Claude, and the report names rule GEM-09."""
    made = request("s_88_a_claude_signature_on_a_gemini_call", GEMINI_3)
    assert b"Y2xhdWRl" not in made.body and SENTINEL.encode() in made.body
    assert any("GEM-09" in line for line in made.report.changes)


def test_s_89_a_gemini_signature_comes_back_through_chat() -> None:
    """It lives in `extra_content` of the call, and goes back there; a foreign call gets the sentinel."""
    (message,) = assistants("s_89_gemini_signature_through_chat", "compatible:gemini-3-pro")
    assert message["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "c2lnbmVk"}}
    (foreign,) = assistants("s_88_a_claude_signature_on_a_gemini_call", "compatible:gemini-3-pro")
    assert foreign["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": SENTINEL}}
    (other,) = assistants("s_89_gemini_signature_through_chat", OPENAI)
    assert "extra_content" not in other["tool_calls"][0]


def test_s_89_a_streamed_signature_is_kept_for_the_next_request() -> None:
    """Decoded from the wire, appended, rendered: the same value goes back."""
    extra = {"google": {"thought_signature": "c2lnbmVk"}}
    tool_call = {
        "id": "1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": extra,
    }
    body = {"choices": [{"message": {"tool_calls": [tool_call]}, "finish_reason": "tool_calls"}]}
    history = conversation(user("go"))
    history.append(decode("compatible:gemini-3-pro", body, turn_key=history.next_key()))
    sent = render(history, "compatible:gemini-3-pro").json["messages"][1]
    assert sent["tool_calls"][0]["extra_content"] == extra


def test_s_90_openrouter_gets_its_details_unmodified() -> None:
    """The whole array, in order, on its message; another model behind the same door gets none of it."""
    to = "openrouter:anthropic/claude-sonnet-4.5"
    (message,) = assistants("s_90_openrouter_reasoning_details", to)
    kinds = [(item["type"], item["index"]) for item in message["reasoning_details"]]
    assert kinds == [("reasoning.text", 0), ("reasoning.encrypted", 1)]
    assert message["reasoning_details"][0]["signature"] == "c2ln" and "reasoning" not in message
    (other,) = assistants("s_90_openrouter_reasoning_details", "openrouter:openai/gpt-5.1")
    assert "reasoning_details" not in other


def test_s_90_a_loop_that_openrouter_did_not_begin_is_made_valid() -> None:
    """Gemini 3 behind it gets the sentinel; Claude behind it does not think this time."""
    name = "s_71_open_loop_without_thinking"
    (gemini,) = assistants(name, "openrouter:google/gemini-3-pro-preview")
    assert gemini["reasoning_details"][0]["data"] == SENTINEL
    claude = request(name, "openrouter:anthropic/claude-sonnet-4.5", thinking=True)
    assert claude.json["reasoning"] == {"enabled": False}
    assert any("ORT-02" in line for line in claude.report.changes)


def test_s_91_thinking_in_tags_is_no_text_for_the_next_provider() -> None:
    """Read from a server that writes tags, the thought is a thought: foreign, so it is left out."""
    body = {"choices": [{"message": {"content": "because</think>so it is"}, "finish_reason": "stop"}]}
    history: History = conversation(user("go"))
    history.append(decode("ollama@chat:qwen3", body, turn_key=history.next_key()))
    history.user("on")
    assert render(history, OPENAI).json["messages"][1]["content"] == "so it is"


def test_s_49_to_91_a_loop_through_everyone_keeps_each_ones_own_reasoning() -> None:
    """Claude's, Gemini's, OpenAI's and DeepSeek's thoughts in one loop: each gets its own back."""
    name = "thinking_of_everyone_in_one_loop"
    assert blocks(name, CLAUDE).count("thinking") == 1
    assert items(name).count("reasoning") == 1
    assert [m["reasoning_content"] for m in assistants(name, DEEPSEEK)] == ["", "", "", "hm"]
    own = [part for content in messages(name, GEMINI_3) for part in content["parts"] if part.get("thought")]
    assert len(own) == 1


def test_a_conversation_that_comes_back_finds_its_reasoning_again() -> None:
    """After others have spoken, the first provider reads what it thought then."""
    history = conversation(
        user("go"),
        model(signed(CLAUDE, signature="c2ln"), call("a", "1"), origin=CLAUDE),
        settled("1"),
        model("mine", origin=OPENAI),
        user("back to you"),
    )
    assert b"c2ln" in render(history, CLAUDE, thinking=True).body
    assert b"c2ln" not in render(history, OPENAI).body


def test_the_scenarios_of_this_group_are_all_there() -> None:
    """Each of S-69 to S-91 has a history in the matrix."""
    known = {name[:4] for name in SCENARIOS}
    assert {f"s_{number}" for number in range(69, 92)} <= known
