"""Chat Completions as real servers write them: facts about what the decoder makes of each oddity."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.decoding import chat, decode, origin, stream, turn

from turnout.model import Media, Opaque, Text, Thinking, ToolCall
from turnout.stream.events import Done, Error, TextDelta, ToolCallComplete
from turnout.stream.reply import ReplyBuilder

DONE = "[DONE]"


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def fragment(
    index: int | None = None, id: str | None = None, name: Any = None, arguments: Any = ""
) -> dict[str, Any]:
    """One entry of `tool_calls`, with only what is given."""
    function = {"name": name, "arguments": arguments}
    entry = {"index": index, "id": id, "function": {k: v for k, v in function.items() if v is not None}}
    return {key: value for key, value in entry.items() if value is not None}


def calls(*fragments: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(fragments))


def called(*payloads: Any, finish: str | None = "tool_calls") -> list[tuple[str, Any]]:
    """Name and arguments of the calls in a stream that ends well."""
    ended = turn(chat(), *payloads, delta(finish), DONE)
    return [(call.name, call.fault or call.arguments) for call in ended.tool_calls]


# -- calls in pieces


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


# -- how it ends


def test_s_98_calls_count_more_than_the_reason_for_stopping() -> None:
    """`stop` with calls means calls; `tool_calls` without any means the end."""
    with_calls = turn(chat(), calls(fragment(0, "a", "add", "{}")), delta("stop"), DONE)
    without = turn(chat(), delta(content="hi"), delta("tool_calls"), DONE)

    assert (with_calls.stop, with_calls.raw_stop) == ("tool_calls", "stop")
    assert (without.stop, without.raw_stop) == ("end", "tool_calls")


def test_s_98_a_stream_without_any_end_is_truncated() -> None:
    """Neither a reason for stopping nor the end mark came."""
    events = stream(chat(), delta(content="hi"))

    assert events[0] == TextDelta("hi")
    assert isinstance(events[-1], Error) and events[-1].kind == "truncated"


def test_the_end_mark_alone_ends_a_reply() -> None:
    """Some servers give no reason for stopping."""
    assert stream(chat(), delta(content="hi"), DONE) == [TextDelta("hi"), Done("end", "")]


def test_a_reason_for_stopping_alone_ends_a_reply() -> None:
    """Some servers send no end mark."""
    assert stream(chat(), delta(content="hi"), delta("stop")) == [TextDelta("hi"), Done("end", "stop")]


@pytest.mark.parametrize("arguments", ['{"text":"once', ""])
def test_s_98_a_call_cut_at_the_token_limit_is_marked_truncated(arguments: str) -> None:
    """Its arguments are half or not there at all; it stays so that the model can be told."""
    ended = turn(chat(), calls(fragment(0, "a", "write", arguments)), delta("length"), DONE)

    assert ended.stop == "length"
    assert [(call.name, call.fault, call.raw) for call in ended.tool_calls] == [
        ("write", "truncated", arguments)
    ]


def test_s_103_a_stream_that_dies_after_the_arguments_leaves_no_call() -> None:
    """The arguments were all there, the reason for stopping was not: nothing is run."""
    decoder = chat()
    events = stream(decoder, delta(content="So"), calls(fragment(0, "a", "add", '{"x":1}')))

    assert isinstance(events[-1], Error) and events[-1].kind == "truncated"
    assert decoder.reply.turn().blocks == (Text("So"),)
    assert decoder.reply.turn().stop == "interrupted"


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (
            {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}},
            "rate_limit",
        ),
        ({"error": {"message": "Overloaded", "code": 503}}, "overloaded"),
        (
            {"object": "error", "message": "maximum context length is 8192 tokens", "code": 400},
            "context_too_long",
        ),
        ({"code": "Client specified an invalid argument", "error": "Model grok-9 not found"}, "not_found"),
        (
            {
                "message": "tool_use ids were found without tool_result blocks immediately after",
                "code": "invalid_request_body",
            },
            "invalid_request",
        ),
        ({"detail": "Internal error"}, "server"),
        ("<html><body>Bad gateway</body></html>", "malformed"),
        ('{"choices":[{"delta":{"content":"ha', "truncated"),
        ("[1, 2]", "malformed"),
    ],
)
def test_s_105_errors_inside_a_good_answer_are_typed(payload: Any, kind: str) -> None:
    """In a stream that has begun, and in a body that should have been a reply."""
    streamed = stream(chat(), delta(content="hi"), payload, delta(content="more"), DONE)

    assert isinstance(streamed[-1], Error) and streamed[-1].kind == kind
    assert streamed[0] == TextDelta("hi") and len(streamed) == 2
    if isinstance(payload, dict):
        whole = list(chat().whole(payload))
        assert isinstance(whole[-1], Error) and whole[-1].kind == kind and len(whole) == 1


def test_s_105_an_empty_answer_is_an_error() -> None:
    """200 and no bytes at all is not an empty reply."""
    assert [type(event) for event in decode(chat(), b"")] == [Error]


def test_finish_reason_error_is_a_failure() -> None:
    """With or without an error object beside it."""
    events = stream(chat(), delta(content="hi"), delta("error"), DONE)

    assert isinstance(events[-1], Error) and events[-1].kind == "server"


def test_nothing_is_said_after_the_end() -> None:
    """Whatever follows the end mark is not part of the reply."""
    assert stream(chat(), delta("stop"), DONE, delta(content="more"), DONE, "garbage") == [
        Done("end", "stop")
    ]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end"),
        ("eos", "end"),
        ("max_tokens", "length"),
        ("model_length", "length"),
        ("content_filter", "refused"),
        ("whatever", "other"),
    ],
)
def test_reasons_for_stopping_are_normalised_and_kept(finish: str, stop: str) -> None:
    """The provider's own word rides along."""
    ended = turn(chat(), delta(content="hi"), delta(finish), DONE)

    assert (ended.stop, ended.raw_stop) == (stop, finish)


def test_a_refusal_is_text_with_the_stop_reason_refused() -> None:
    """Streamed or not."""
    streamed = turn(chat(), delta(refusal="I can"), delta(refusal="not."), delta("stop"), DONE)
    decoder = chat()
    list(
        decoder.whole(
            {"choices": [{"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]}
        )
    )

    assert (streamed.text, streamed.stop) == ("I cannot.", "refused")
    assert (decoder.reply.turn().text, decoder.reply.turn().stop) == ("I cannot.", "refused")


# -- choices, usage


def test_s_106_only_the_first_choice_is_the_reply() -> None:
    """A second alternative is not mixed into the first."""
    two = {"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]}
    other = {"choices": [{"index": 1, "delta": {"content": "c"}, "finish_reason": "length"}]}

    assert stream(chat(), two, other, delta("stop"), DONE) == [TextDelta("a"), Done("end", "stop")]


def test_s_106_a_dialect_may_join_its_choices() -> None:
    """Copilot puts text and calls of one reply into different choices."""
    spoken = {"choices": [{"index": 0, "delta": {"content": "a"}}]}
    doing = {"choices": [{"index": 1, "delta": {"tool_calls": [fragment(0, "x", "add", "{}")]}}]}
    ended = turn(chat("copilot", joins_choices=True), spoken, doing, delta("tool_calls"), DONE)

    assert ended.text == "a"
    assert [call.name for call in ended.tool_calls] == ["add"]


def test_s_106_odd_but_harmless_chunks_are_passed_over() -> None:
    """No choices, no delta, null content beside calls."""
    payloads = [
        {"choices": []},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0}]},
        {"choices": None},
        delta(content=None, tool_calls=[fragment(0, "a", "add", "{}")]),
        delta(content=None, tool_calls=None),
        delta(tool_calls=[]),
    ]

    assert called(*payloads) == [("add", {})]


@pytest.mark.parametrize(
    "payloads",
    [
        [
            delta("stop"),
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}},
        ],
        [{**delta("stop"), "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}],
        [
            {**delta(content=""), "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}},
            {**delta("stop"), "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}},
            {**delta("stop"), "usage": None},
        ],
        [
            {
                **delta("stop"),
                "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}},
            }
        ],
        [
            {
                "choices": [
                    {
                        "delta": {},
                        "finish_reason": "stop",
                        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
                    }
                ]
            }
        ],
    ],
    ids=["after the end", "with the end", "everywhere", "groq", "in the choice"],
)
def test_usage_is_found_wherever_it_stands(payloads: list[Any]) -> None:
    """The last one counts, and it is told once."""
    events = stream(chat(), *payloads, DONE)

    assert [getattr(event, "total", None) for event in events] == [7, None]


# -- thinking


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_is_read_from_any_field_that_has_it(field: str) -> None:
    """Whatever the target; the residue says where the text came from."""
    blocks = turn(chat(), delta(**{field: "hm"}), delta(content="yes"), delta("stop"), DONE).blocks

    assert [type(block) for block in blocks] == [Thinking, Text]
    assert blocks[0].residue is not None and blocks[0].residue.data == {"field": field}
    assert blocks[0].residue.origin == origin("openai")


def test_reasoning_that_two_fields_repeat_counts_once() -> None:
    """Servers in transition write the same text under two names, and in details as well."""
    details = [{"type": "reasoning.text", "text": "hm", "index": 0}]
    both = delta(reasoning="hm", reasoning_content="hm", reasoning_details=details)

    assert turn(chat(), both, delta(content="yes"), delta("stop"), DONE).thinking == "hm"


def test_reasoning_that_only_details_hold_is_read_from_there() -> None:
    """Texts and summaries; encrypted parts have none."""
    details = [{"type": "reasoning.summary", "summary": "hm"}, {"type": "reasoning.encrypted", "data": "x"}]
    ended = turn(chat(), delta(reasoning_details=details), delta(content="yes"), delta("stop"), DONE)

    assert ended.thinking == "hm"
    assert ended.blocks[0].residue is not None and ended.blocks[0].residue.data == {
        "reasoning_details": details
    }


def test_pieces_of_one_detail_are_put_together() -> None:
    """Text grows, a signature comes once, and other details keep their order."""
    pieces: list[dict[str, Any]] = [
        {"type": "reasoning.text", "text": "Hm", "index": 0, "format": "f"},
        {"type": "reasoning.text", "text": ".", "index": 0, "format": "f"},
        {"type": "reasoning.text", "signature": "sig", "index": 0, "format": "f"},
        {"type": "reasoning.encrypted", "data": "d1", "index": 1, "id": "rs_1"},
        {"type": "reasoning.encrypted", "data": "d2", "index": 1, "id": "rs_1"},
    ]
    ended = turn(chat(), *[delta(reasoning_details=[piece]) for piece in pieces], delta("stop"), DONE)

    (thinking,) = ended.blocks
    assert thinking.residue is not None
    assert thinking.residue.data["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Hm.", "index": 0, "format": "f", "signature": "sig"},
        pieces[3],
        pieces[4],
    ]


def test_state_that_comes_late_is_kept_whole() -> None:
    """Details after the text: the last thinking block of the reply holds all of them."""
    first, second = (
        {"type": "reasoning.text", "text": "hm", "index": 0},
        {"type": "reasoning.encrypted", "data": "x"},
    )
    ended = turn(
        chat(),
        delta(reasoning="hm", reasoning_details=[first]),
        delta(content="yes"),
        delta(reasoning_details=[second]),
        delta("stop"),
        DONE,
    )

    assert ended.thinking == "hm"
    last = [block for block in ended.blocks if isinstance(block, Thinking)][-1]
    assert last.residue is not None and last.residue.data == {"reasoning_details": [first, second]}


def test_copilot_state_is_kept_with_its_thinking() -> None:
    """It may ride on the chunk that calls a tool."""
    opaque = delta(reasoning_opaque="state", tool_calls=[fragment(0, "a", "add", "{}")])
    ended = turn(chat("copilot"), delta(reasoning_text="hm"), opaque, delta("tool_calls"), DONE)

    assert [type(block) for block in ended.blocks] == [Thinking, ToolCall]
    assert ended.blocks[0].residue is not None
    assert ended.blocks[0].residue.data == {"field": "reasoning_text", "reasoning_opaque": "state"}


def test_mistral_thinks_in_parts_of_its_content() -> None:
    """Text before, between and after; a reference is kept as it is; a signature ends what it signs."""
    reference = {"type": "reference", "reference_ids": [1]}
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": "s", "closed": True},
        {"type": "thinking", "thinking": [{"type": "text", "text": "so"}]},
        {"type": "text", "text": "yes"},
        reference,
    ]
    decoder = chat("mistral")
    list(decoder.whole({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}))
    one, two, text, kept = decoder.reply.turn().blocks

    assert (one, text.text) == (Thinking("hm", one.residue), "yes")  # type: ignore[union-attr]
    assert one.residue is not None and two.residue is not None
    assert one.residue.data == {"thinking_chunk": {"signature": "s", "closed": True}}
    assert two.residue.data == {"thinking_chunk": {}}
    assert isinstance(kept, Opaque) and kept.residue is not None and kept.residue.data == {"part": reference}


def test_s_91_think_tags_are_thinking_only_where_the_dialect_says_so() -> None:
    """Plain OpenAI leaves them in the text."""
    pieces = [delta(content=piece) for piece in ("<th", "ink>hm</th", "ink>yes")]
    ends = [delta("stop"), DONE]
    told, plain = turn(chat("local", think_tags="think"), *pieces, *ends), turn(chat(), *pieces, *ends)

    assert (told.thinking, told.text) == ("hm", "yes")
    assert (plain.thinking, plain.text) == ("", "<think>hm</think>yes")


def test_s_91_a_template_may_have_opened_the_thinking_already() -> None:
    """The reply begins in the middle of it."""
    pieces = [delta(content=piece) for piece in ("h", "m</think>", "\n\nyes")]
    ended = turn(chat("local", think_tags="think", think_opened=True), *pieces, delta("stop"), DONE)

    assert (ended.thinking, ended.text) == ("hm", "yes")


def test_s_91_thinking_whose_opening_tag_is_missing_is_thinking_in_the_turn() -> None:
    """It was passed on as text before anyone could know; the turn has it right, from events too."""
    decoder = chat("local", think_tags="think")
    events = stream(
        decoder, *[delta(content=text) for text in ("h", "m</thi", "nk>", "yes")], delta("stop"), DONE
    )
    again = ReplyBuilder(origin("local"), "t.1")
    for event in events:
        again.feed(event)

    assert decoder.reply.turn().blocks == (Thinking("hm"), Text("yes"))
    assert again.turn().blocks == decoder.reply.turn().blocks


# -- bodies that were not streamed, and odd content


def test_a_body_that_was_not_streamed_gives_the_same_kinds_of_events() -> None:
    """Thinking, text and calls in that order, then usage and the end."""
    message = {
        "reasoning_content": "hm",
        "content": "yes",
        "tool_calls": [fragment(None, "a", "add", '{"x":1}'), fragment(None, "b", "add", '{"x":2}')],
    }
    decoder = chat()
    events = list(
        decoder.whole(
            {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1}}
        )
    )
    ended = decoder.reply.turn()

    assert [type(block) for block in ended.blocks] == [Thinking, Text, ToolCall, ToolCall]
    assert [call.arguments for call in ended.tool_calls] == [{"x": 1}, {"x": 2}]
    assert events[-1] == Done("tool_calls", "tool_calls")


def test_content_that_is_json_already_is_written_out() -> None:
    """One host parses structured output before it sends it."""
    decoder = chat()
    list(decoder.whole({"choices": [{"message": {"content": {"a": [1]}}, "finish_reason": "stop"}]}))

    assert decoder.reply.turn().text == '{"a":[1]}'


def test_images_are_media_and_server_run_tools_are_opaque() -> None:
    """Neither is text; the tool that the server ran is never paired."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    tool = {"index": 0, "type": "search", "arguments": "{}", "output": "found"}
    ended = turn(
        chat("groq"),
        delta(executed_tools=[{**tool, "output": ""}]),
        delta(executed_tools=[tool]),
        delta(content="yes", images=[image]),
        delta("stop"),
        DONE,
    )

    assert [type(block) for block in ended.blocks] == [Text, Media, Opaque]
    assert ended.blocks[1] == Media("image/png", data="AAAA")
    assert ended.blocks[2].residue is not None and ended.blocks[2].residue.data == {"executed_tool": tool}
    assert ended.tool_calls == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "index",
                    "id",
                    "name",
                    "arguments",
                    "reasoning_details",
                    "reasoning",
                    "finish_reason",
                    "usage",
                    "error",
                    "type",
                    "text",
                    "thinking",
                    "custom",
                    "input",
                    "extra_content",
                    "executed_tools",
                    "images",
                    "refusal",
                    "function_call",
                    "image_url",
                    "audio",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=5), st.booleans())
def test_no_payload_however_odd_makes_it_raise(payloads: list[Any], tags: bool) -> None:
    """There is always one last event that says how it ended, and always a turn."""
    decoder = chat(think_tags="think" if tags else "", joins_choices=True)
    wrapped = [{"choices": [{"delta": payload}]} for payload in payloads]
    events = stream(decoder, *payloads, *wrapped, DONE)
    whole = chat()

    assert isinstance(events[-1], Done | Error)
    assert isinstance([*whole.whole(payloads[0] if payloads else None)][-1], Done | Error)
    assert sum(isinstance(event, Done | Error) for event in events) == 1
    decoder.reply.turn()
    whole.reply.turn()
