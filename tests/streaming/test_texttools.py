"""Tool calls in the text: every family's way of writing them, and what only looks like one."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.streaming.text_syntax import TextCall, TextThought
from turnout.streaming.texttools import SYNTAXES, Piece, TextTools, syntax_of


def split(syntax: str, *chunks: str) -> list[Piece]:
    """The pieces, with neighbouring texts joined."""
    tools = TextTools(syntax)
    joined: list[Piece] = []
    for piece in [*(piece for chunk in chunks for piece in tools.feed(chunk)), *tools.close()]:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


READ = TextCall("read", {"path": "a.txt", "lines": 3})

HERMES = '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt", "lines": 3}}\n</tool_call>'
CODER = (
    "<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n"
    "<parameter=lines>\n3\n</parameter>\n</function>\n</tool_call>"
)
GLM = (
    "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n"
    "<arg_key>lines</arg_key>\n<arg_value>3</arg_value>\n</tool_call>"
)
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>"
    '{"path": "a.txt", "lines": 3}<|tool_call_end|><|tool_calls_section_end|>'
)
DEEPSEEK_V3 = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n"
    '{"path": "a.txt", "lines": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>'
)
DEEPSEEK_V31 = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>"
    '{"path": "a.txt", "lines": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
DSML = (
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n'
    '<｜DSML｜parameter name="path" string="true">a.txt</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="lines" string="false">3</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
)
HARMONY = (
    "<|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>"
    '{"path": "a.txt", "lines": 3}<|call|>'
)
LLAMA = '<|python_tag|>{"name": "read", "parameters": {"path": "a.txt", "lines": 3}}<|eom_id|>'
BARE = '{"name": "read", "parameters": {"path": "a.txt", "lines": 3}}'
PYTHONIC = '[read(path="a.txt", lines=3)]'
FUNCTION = '<function=read>{"path": "a.txt", "lines": 3}</function>'

WRITTEN = [
    ("hermes", HERMES),
    ("hermes", CODER),
    ("hermes", GLM),
    ("hermes", FUNCTION),
    ("kimi", KIMI),
    ("deepseek", DEEPSEEK_V3),
    ("deepseek", DEEPSEEK_V31),
    ("deepseek", DSML),
    ("harmony", HARMONY),
    ("llama", LLAMA),
    ("llama", BARE),
    ("llama", PYTHONIC),
    ("llama", FUNCTION),
]


@pytest.mark.parametrize(("syntax", "text"), WRITTEN)
def test_s_102_a_call_in_the_text_is_a_call(syntax: str, text: str) -> None:
    """Alone, in any cut; the space around it belongs to it."""
    expected = [TextCall("read", READ.arguments, "functions.read:0" if syntax == "kimi" else "")]

    assert split(syntax, text) == expected
    assert split(syntax, *f"\n{text}\n") == expected
    for at in range(len(text)):
        assert split(syntax, text[:at], text[at:]) == expected


@pytest.mark.parametrize(("syntax", "text"), [pair for pair in WRITTEN if pair[1] not in (BARE, PYTHONIC)])
def test_s_102_text_around_calls_stays_and_several_calls_are_several(syntax: str, text: str) -> None:
    """In the order in which they were written."""
    pieces = split(syntax, f"Let me see.\n{text}\n{text}\nDone.")

    assert [type(piece) for piece in pieces] == [str, TextCall, TextCall, str]
    assert str(pieces[0]).strip() == "Let me see." and pieces[-1] == "Done."


@pytest.mark.parametrize(("syntax", "text"), WRITTEN)
def test_s_102_syntax_that_is_only_shown_in_code_is_text(syntax: str, text: str) -> None:
    """In a code block of any language, and in a code span."""
    shown = f"Write it like this:\n```xml\n{text.replace('```', '~~~')}\n```\nand nothing else."

    assert split(syntax, shown) == [shown]
    assert split(syntax, *shown) == [shown]
    assert split(syntax, "use `<tool_call>` for it") == ["use `<tool_call>` for it"]


@pytest.mark.parametrize("text", [HERMES, FUNCTION, GLM])
def test_s_102_plain_tags_in_the_middle_of_a_line_are_prose(text: str) -> None:
    """They count where a line begins; special tokens need no such rule."""
    shown = f"You would write {text} there."

    assert split("hermes", shown) == [shown]


@pytest.mark.parametrize(
    ("syntax", "text"),
    [(syntax, text) for syntax, text in WRITTEN if syntax not in ("llama", "harmony")],
)
def test_s_102_a_call_cut_in_the_middle_is_no_call(syntax: str, text: str) -> None:
    """What came of it is text; nothing is lost."""
    cut = text[: text.rindex("3")]
    (piece,) = split(syntax, cut)

    assert isinstance(piece, str) and "a.txt" in piece


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("hermes", "<tool_call>\nnot json {\n</tool_call>"),
        ("hermes", '<tool_call>\n{"arguments": {}}\n</tool_call>'),
        ("hermes", '<tool_call>\n{"name": "rm -rf /", "arguments": {}}\n</tool_call>'),
        ("hermes", "<tool_call>a, b and c</tool_call>"),
        ("llama", '{"answer": 42}'),
        ("llama", "[1] says so"),
        ("llama", "[__import__('os').system('ls')]"),
        ("kimi", "<|tool_call_begin|>functions.read:0<|tool_call_end|>"),
    ],
)
def test_a_region_that_holds_no_call_is_text(syntax: str, text: str) -> None:
    """As it was written."""
    assert split(syntax, text) == [text]
    assert split(syntax, *text) == [text]


def test_a_closing_mark_inside_an_argument_ends_nothing() -> None:
    """A model that writes a file about the syntax."""
    arguments = {"text": "end with </tool_call> please"}
    text = f"<tool_call>{json.dumps({'name': 'write', 'arguments': arguments})}</tool_call>"

    assert split("hermes", text) == [TextCall("write", arguments)]
    assert split("hermes", *text) == [TextCall("write", arguments)]


def test_harmony_channels_are_thinking_and_text() -> None:
    """Analysis is thought, what is final is said."""
    text = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes<|return|>"

    assert split("harmony", text) == [TextThought("hm"), "yes"]


@pytest.mark.parametrize(
    ("model", "syntax"),
    [
        ("moonshotai/Kimi-K2-Instruct", "kimi"),
        ("deepseek-v3.1", "deepseek"),
        ("qwen3-coder-480b", "hermes"),
        ("glm-4.5-air", "hermes"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama"),
        ("openai/gpt-oss-120b", "harmony"),
        ("gpt-5", ""),
    ],
)
def test_a_model_s_name_tells_its_syntax(model: str, syntax: str) -> None:
    """Models that are not listed have none."""
    assert syntax_of(model) == syntax


TEXT = st.lists(
    st.sampled_from(
        [
            HERMES,
            GLM,
            KIMI,
            FUNCTION,
            "<tool_call>",
            "</tool_call>",
            "<function=",
            "<|tool_call_begin|>",
            "```",
            "`",
            "\n",
            " ",
            "text",
            "<",
            "{",
            "}",
            "<|channel|>",
            "<|message|>",
            "<|end|>",
        ]
    ),
    max_size=8,
).map("".join)


@given(st.sampled_from(sorted(SYNTAXES)), TEXT, st.data())
def test_pieces_do_not_depend_on_where_the_text_was_cut(syntax: str, text: str, data: st.DataObject) -> None:
    """In two, or letter by letter."""
    at = data.draw(st.integers(0, len(text)))

    assert split(syntax, text[:at], text[at:]) == split(syntax, text)
    assert split(syntax, *text) == split(syntax, text)


def test_a_long_call_takes_linear_time() -> None:
    """A megabyte of arguments in small pieces."""
    tools = TextTools("hermes")
    started = time.process_time()
    pieces: list[Any] = [*tools.feed('<tool_call>{"name": "write", "arguments": {"text": "')]
    for _ in range(100_000):
        pieces += tools.feed("ten chars ")
    pieces += tools.feed('"}}</tool_call>')

    assert isinstance(pieces[0], TextCall) and len(pieces) == 1
    assert time.process_time() - started < 3
