"""One region of text, read in the syntax of each model family."""

from __future__ import annotations

import pytest

from turnout.streaming import text_syntax
from turnout.streaming.text_syntax import TextCall, TextThought

READ = TextCall("read", {"path": "a.txt"})


@pytest.mark.parametrize(
    ("syntax", "region"),
    [
        ("hermes", '<tool_call>{"name": "read", "arguments": {"path": "a.txt"}}</tool_call>'),
        ("hermes", "<function=read><parameter=path>\na.txt\n</parameter></function>"),
        ("hermes", "<tool_call>read<arg_key>path</arg_key><arg_value>a.txt</arg_value></tool_call>"),
        ("deepseek", '<｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path": "a.txt"}<｜tool▁call▁end｜>'),
        ("llama", '<|python_tag|>{"name": "read", "parameters": {"path": "a.txt"}}<|eom_id|>'),
        ("llama", '[read(path="a.txt")]'),
        ("harmony", '<|channel|>commentary to=functions.read<|message|>{"path": "a.txt"}<|call|>'),
    ],
)
def test_each_family_writes_the_same_call(syntax: str, region: str) -> None:
    """The name and the arguments are the same in every syntax."""
    assert getattr(text_syntax, syntax)(region) == [READ]


def test_kimi_gives_its_calls_ids() -> None:
    """The id holds the name, and goes back with the result."""
    region = (
        '<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path": "a.txt"}<|tool_call_end|>'
    )

    assert text_syntax.kimi(region) == [TextCall("read", {"path": "a.txt"}, "functions.read:0")]


def test_analysis_of_harmony_is_thinking() -> None:
    """Other channels are text."""
    assert text_syntax.harmony("<|channel|>analysis<|message|>Hm.<|end|>") == [TextThought("Hm.")]
    assert text_syntax.harmony("<|channel|>final<|message|>Done.<|return|>") == ["Done."]


@pytest.mark.parametrize(
    ("syntax", "region"),
    [
        ("hermes", "<tool_call>not JSON at all, with words</tool_call>"),
        ("hermes", '<tool_call>{"name": "read"}</tool_call>'),
        ("kimi", "<|tool_call_begin|>functions.read:0<|tool_call_end|>"),
        ("llama", "[read('a.txt')]"),
        ("harmony", "<|channel|>commentary"),
    ],
)
def test_what_does_not_read_as_a_call_is_not_a_call(syntax: str, region: str) -> None:
    """The reader returns None, and the region stays text."""
    assert getattr(text_syntax, syntax)(region) is None
