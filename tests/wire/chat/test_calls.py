"""Calls on the Chat wire: in pieces, under keys that cannot be trusted, or left in the text."""

from __future__ import annotations

from typing import Any

import pytest
from tests.chunks import DONE, called, calls, delta, fragment
from tests.decoding import chat, stream, turn

from turnout import decode
from turnout.model import Text, Thinking, ToolCall
from turnout.streaming.events import Error, ToolCallComplete


def test_s_93_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    """A new id opens a new call; a fragment without one continues the last."""
    payloads = [
        calls(fragment(id="a", name="add", arguments='{"x":')),
        calls(fragment(arguments="1}")),
        calls(fragment(id="b", name="add", arguments='{"x":2}')),
    ]

    assert called(*payloads) == [("add", {"x": 1}), ("add", {"x": 2})]


def test_s_94_calls_that_share_index_0_are_told_apart_by_their_ids() -> None:
    """Some servers give every parallel call the same index."""
    payloads = [
        calls(fragment(0, "a", "add", '{"x":1}')),
        calls(fragment(0, "b", "add", '{"x":2}')),
        calls(fragment(0, "c", "sub", "{}")),
    ]

    assert called(*payloads) == [("add", {"x": 1}), ("add", {"x": 2}), ("sub", {})]


def test_s_95_arguments_astray_go_to_the_only_open_call() -> None:
    """A fragment at an unknown index, without id and name, continues the one call there is."""
    payloads = [
        calls(fragment(0, "a", "add")),
        calls(fragment(1, arguments='{"x"')),
        calls(fragment(2, arguments=":1}")),
    ]

    assert called(*payloads) == [("add", {"x": 1})]


def test_s_95_arguments_astray_among_several_calls_are_not_run() -> None:
    """Nobody can tell whose they are, so the calls that lack arguments are faulty."""
    payloads = [
        calls(fragment(0, "a", "add"), fragment(1, "b", "sub")),
        calls(fragment(7, arguments='{"x":1}')),
    ]

    assert called(*payloads) == [("add", "ambiguous"), ("sub", "ambiguous")]


@pytest.mark.parametrize(
    "payloads",
    [
        [calls(fragment(0, "a", "add", '{"x"')), calls(fragment(0, "a", "add", ":1}"))],
        [calls(fragment(0, "a", "a")), calls(fragment(0, None, "dd", '{"x":1}'))],
        [calls(fragment(0, "a", None, "")), calls(fragment(0, None, "add", '{"x":1}'))],
        [calls(fragment(0, "a", None, '{"x"')), calls(fragment(0, None, "add", ":1}"))],
        [calls(fragment(0, "a", "add", '{"x"')), calls(fragment(0, "b", None, ":1}"))],
        [calls(fragment(0, "a", "add", '{"x"')), calls(fragment(0, "", "", ":1}"))],
        [calls(fragment(0, None, "add", '{"x":1}'))],
    ],
    ids=["name repeated", "name split", "name later", "name last", "id changes", "empty later", "no id"],
)
def test_s_96_names_and_ids_come_when_they_please(payloads: list[Any]) -> None:
    """Whole, in pieces, again, late or never: it is one call."""
    assert called(*payloads) == [("add", {"x": 1})]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([{"x": 1}], {"x": 1}),
        ([None], {}),
        ([""], {}),
        (["", "{}"], {}),
        (["null"], {}),
        (['{"x":', "1}"], {"x": 1}),
    ],
)
def test_s_97_arguments_come_as_text_object_or_nothing(pieces: list[Any], expected: dict[str, Any]) -> None:
    """All of them mean what they say; nothing means no arguments."""
    head, *rest = pieces

    assert called(
        calls(fragment(0, "a", "add", head)), *[calls(fragment(0, arguments=piece)) for piece in rest]
    ) == [("add", expected)]


def test_calls_are_whole_only_when_the_reply_is() -> None:
    """A prefix of arguments may parse and still grow, so no call is complete before the end."""
    decoder = chat()
    before = [
        *decoder.feed(
            "",
            b'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":'
            b'{"name":"add","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}',
        )
    ]
    after = [*decoder.feed("", b"[DONE]")]

    assert not any(isinstance(event, ToolCallComplete) for event in before)
    assert any(isinstance(event, ToolCallComplete) for event in after)


def test_legacy_function_calls_are_calls() -> None:
    """The field that came before `tool_calls` streams the same way."""
    payloads = [
        delta(function_call={"name": "add", "arguments": ""}),
        delta(function_call={"arguments": '{"x":1}'}),
    ]

    assert called(*payloads, finish="function_call") == [("add", {"x": 1})]


def test_custom_tools_take_their_text_as_one_argument() -> None:
    """Quotes and line breaks in the text survive."""
    decoder = chat()
    ended = turn(
        decoder,
        delta(
            tool_calls=[
                {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql", "input": 'SELECT "a"'}}
            ]
        ),
        delta(tool_calls=[{"index": 0, "custom": {"input": "\nFROM t"}}]),
        delta("tool_calls"),
        DONE,
    )

    (call,) = ended.tool_calls
    assert call.arguments == {"input": 'SELECT "a"\nFROM t'}
    assert call.residue is not None and call.residue.data == {"custom": True}


def test_a_signature_stays_on_the_call_it_came_with() -> None:
    """Gemini on the Chat wire signs the first call, which may have no index."""
    signed = {
        **fragment(id="a", name="add", arguments="{}"),
        "extra_content": {"google": {"thought_signature": "s"}},
    }
    first, second = turn(
        chat("gemini-chat"),
        calls(signed),
        calls(fragment(id="b", name="add", arguments="{}")),
        delta("stop"),
        DONE,
    ).tool_calls

    assert first.residue is not None
    assert first.residue.data == {"extra_content": {"google": {"thought_signature": "s"}}}
    assert second.residue is None


@pytest.mark.parametrize("ids", [("a", "b"), ("a", "a")], ids=["two ids", "one id"])
def test_an_index_that_is_written_as_text_tells_calls_apart(ids: tuple[str, str]) -> None:
    """Arguments that come in turns stay with the call whose index they have."""
    payloads = [
        *(calls({**fragment(id=id, name="add"), "index": str(at)}) for at, id in enumerate(ids)),
        *(calls({**fragment(arguments='{"x":'), "index": at}) for at in ("0", "1")),
        *(calls({**fragment(arguments=at + "}"), "index": at}) for at in ("0", "1")),
    ]

    assert called(*payloads) == [("add", {"x": 0}), ("add", {"x": 1})]


def test_a_signature_stays_on_its_call_when_two_share_an_id() -> None:
    """Each call keeps what came with it, by whatever its fragments are told apart."""

    def signed(index: int, signature: str) -> dict[str, Any]:
        return {**fragment(index, "c1", "add"), "extra_content": {"google": {"thought_signature": signature}}}

    calls_made = turn(
        chat("gemini-chat"),
        calls(signed(0, "s0")),
        calls(signed(1, "s1")),
        calls(fragment(0, arguments="{}")),
        delta("stop"),
        DONE,
    ).tool_calls

    kept = [call.residue.data["extra_content"] for call in calls_made if call.residue is not None]
    assert kept == [{"google": {"thought_signature": "s0"}}, {"google": {"thought_signature": "s1"}}]


# -- calls in the text

KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>"
    '{"path":"a"}<|tool_call_end|><|tool_calls_section_end|>'
)


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_s_102_calls_in_the_text_or_the_reasoning_are_calls_where_the_dialect_says_so(field: str) -> None:
    """Whole when the reply is; elsewhere they are the text they look like."""
    pieces = [delta(**{field: piece}) for piece in ("Let me see. ", KIMI[:40], KIMI[40:])]
    told = turn(chat("local", text_tools="kimi"), *pieces, delta("stop"), DONE)
    plain = turn(chat("local"), *pieces, delta("stop"), DONE)

    assert [(call.raw_id, call.name, call.arguments) for call in told.tool_calls] == [
        ("functions.read:0", "read", {"path": "a"})
    ]
    assert (told.stop, told.text + told.thinking) == ("tool_calls", "Let me see. ")
    assert (plain.tool_calls, plain.text + plain.thinking) == ((), f"Let me see. {KIMI}")


def test_s_102_thinking_keeps_its_residue_when_a_call_is_found_in_it() -> None:
    """The call takes its place after the thinking."""
    pieces = [delta(reasoning_content="Hm. "), delta(reasoning_content=KIMI), delta(content="So.")]
    ended = turn(chat("local", text_tools="kimi"), *pieces, delta("stop"), DONE)

    assert [type(block) for block in ended.blocks] == [Thinking, ToolCall, Text]
    assert ended.blocks[0].residue is not None
    assert ended.blocks[0].residue.data == {"field": "reasoning_content"}


def test_s_102_think_tags_and_calls_in_the_text_go_together() -> None:
    """Qwen writes both."""
    text = '<think>\nhm\n</think>\n\nSo.\n<tool_call>\n{"name": "read", "arguments": {}}\n</tool_call>'
    ended = turn(
        chat("local", think_tags="think", text_tools="hermes"), *map(_letter, text), delta("stop"), DONE
    )

    assert [type(block) for block in ended.blocks] == [Thinking, Text, ToolCall]
    assert (ended.thinking.strip(), ended.text.strip()) == ("hm", "So.")


def _letter(text: str) -> dict[str, Any]:
    return delta(content=text)


def test_s_102_a_stream_that_dies_after_a_call_in_the_text_leaves_no_call() -> None:
    """And what was held back comes before the error."""
    decoder = chat("local", text_tools="kimi")
    events = stream(decoder, delta(content=KIMI + "and <|tool"))

    assert isinstance(events[-1], Error) and events[-1].kind == "truncated"
    assert (decoder.reply.turn().tool_calls, decoder.reply.turn().text) == ((), "and <|tool")


def test_s_102_calls_in_the_text_are_read_for_a_target_on_request() -> None:
    """The model's name tells the syntax; without asking, text is text."""
    body = {"choices": [{"message": {"content": KIMI}, "finish_reason": "stop"}]}

    assert [call.name for call in decode("ollama:kimi-k2", body, text_tools=True).tool_calls] == ["read"]
    assert decode("ollama:kimi-k2", body).tool_calls == ()


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("groq:llama-3.3-70b-versatile", '<|python_tag|>{"name": "f", "parameters": {"a": 1}}'),
        ("groq:llama-3.3-70b-versatile", '{"name": "f", "parameters": {"a": 1}}'),
        ("vllm:openai/gpt-oss-20b", '<|channel|>commentary to=functions.f<|message|>{"a": 1}'),
    ],
)
def test_s_102_a_call_that_ends_with_the_reply_is_not_lost(place: str, text: str) -> None:
    """Servers that take the mark of the end away leave the call: it is a call, and never nothing."""
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    reply = decode(place, body, text_tools=True)

    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("f", {"a": 1})]
    assert (reply.stop, reply.text) == ("tool_calls", "")


@pytest.mark.parametrize("index", [None, 0])
def test_every_call_of_a_whole_body_is_a_call_of_its_own(index: int | None) -> None:
    """Two that are the same to the last letter, id included, and whatever index they give themselves."""
    same = fragment(index, "call_1", "add", '{"x":1}')
    body = {"choices": [{"message": {"tool_calls": [same, same]}, "finish_reason": "tool_calls"}]}
    reply = decode("groq:llama-3.3-70b-versatile", body)

    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("add", {"x": 1})] * 2
    assert len({call.id for call in reply.tool_calls}) == 2
