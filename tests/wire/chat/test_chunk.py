"""The shape of a chunk, from anything that a server sends."""

from __future__ import annotations

from turnout.wire.chat.chunk import dicts, is_done, read_chunk, usage_of


def test_any_json_value_reads_as_a_chunk() -> None:
    """Values of a wrong type are left out."""
    chunk = read_chunk({"choices": {"index": 0, "delta": {"content": "Hi.", "tool_calls": "none"}}})

    assert chunk.choices is not None and chunk.choices[0].delta is not None
    assert chunk.choices[0].delta.content == "Hi." and chunk.choices[0].delta.tool_calls is None
    assert read_chunk([1, 2]).choices is None


def test_the_end_mark_may_be_padded() -> None:
    """It is not JSON."""
    assert is_done(b" [DONE]\r") and not is_done(b"{}")


def test_cached_tokens_have_many_names() -> None:
    """Each server has its own; true is not a number."""
    assert usage_of({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}).cached_input == 4  # type: ignore[union-attr]
    assert usage_of({"prompt_tokens": True}).input is None  # type: ignore[union-attr]
    assert usage_of("nine") is None


def test_a_single_object_counts_as_a_list() -> None:
    """Some servers leave the brackets out."""
    assert dicts({"a": 1}) == [{"a": 1}] and dicts([{"a": 1}, 2]) == [{"a": 1}]
