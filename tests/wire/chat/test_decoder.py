"""Chat Completions as real servers write them: how replies end, count, choose and fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chunks import DONE, called, calls, delta, fragment
from tests.decoding import chat, decode, stream, turn

from turnout.model import Media, Opaque, Text, Thinking, ToolCall, Usage
from turnout.streaming.events import Done, Error, TextDelta

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
    """Some servers give no reason for stopping. It makes calls whole, too."""
    assert stream(chat(), delta(content="hi"), DONE) == [TextDelta("hi"), Done("end", "")]
    assert turn(chat(), calls(fragment(0, "a", "add", "{}")), DONE).stop == "tool_calls"


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


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'error: {"error": {"message": "The engine is overloaded", "code": 503}}', "overloaded"),
        (b'error: {"message": "Rate limit exceeded", "code": 429}', "rate_limit"),
        (b"error: maximum context length is 8192 tokens", "context_too_long"),
        (b'event: error\ndata: "Internal error"', "server"),
    ],
)
def test_an_error_field_in_the_stream_is_read(line: bytes, kind: str) -> None:
    """gpustack says there why it stopped; browsers would skip it, and the stream would seem cut off."""
    said = b'data: {"choices": [{"index": 0, "delta": {"content": "hi"}}]}\n\n'

    for body in (said + line + b"\n\n", said + line, line + b"\n\n"):
        last = decode(chat(), body)[-1]
        assert isinstance(last, Error) and last.kind == kind


LIMIT = {"code": 400, "message": "Token limit reached"}


@pytest.mark.parametrize(
    "payloads",
    [
        [delta("length"), {"error": LIMIT}],
        [delta("length"), {"error": LIMIT, "choices": []}],
        [{**delta("length"), "error": LIMIT}],
        [delta("length"), {**delta("error", content=""), "error": LIMIT}],
    ],
)
def test_an_error_after_the_token_limit_is_the_token_limit(payloads: list[Any]) -> None:
    """OpenRouter gives the reason for stopping and then says the same as an error: the reply stands."""
    ended = turn(chat(), delta(content="Once upon"), *payloads, DONE)

    assert (ended.text, ended.stop) == ("Once upon", "length")


def test_an_error_after_another_end_is_an_error() -> None:
    """Only an error after the token limit is ignored."""
    last = stream(chat(), delta(content="hi"), delta("stop"), {"error": {"code": 502, "message": "gone"}})[-1]

    assert isinstance(last, Error) and last.kind == "server"


def test_s_105_bytes_that_are_no_text_are_an_error() -> None:
    """Also where they stand in a field that nobody reads."""
    (error,) = chat().feed("", b'{"id":"\xff"}')

    assert isinstance(error, Error) and error.kind == "malformed"


def test_s_105_an_empty_answer_is_an_error() -> None:
    """200 and no bytes at all is not an empty reply."""
    assert [type(event) for event in decode(chat(), b"")] == [Error]


def test_s_105_an_end_mark_alone_is_no_reply() -> None:
    """Nothing was said, no reason for stopping was given."""
    assert [type(event) for event in stream(chat(), delta(role="assistant"), DONE)] == [Error]


def test_an_error_inside_a_choice_is_a_failure() -> None:
    """OpenRouter tells there what went wrong upstream."""
    choice = {
        "delta": {"content": "hi"},
        "finish_reason": "error",
        "error": {"code": 429, "message": "slow down"},
    }
    events = stream(chat(), {"choices": [choice]}, DONE)

    assert events == [TextDelta("hi"), Error("rate_limit", "slow down")]


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
    assert events[-1] == Done("tool_calls", "tool_calls", Usage(input=1))


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
