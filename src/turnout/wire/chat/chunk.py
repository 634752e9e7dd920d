"""The shape of a Chat Completions chunk, as wide as real servers write it.

One shape serves streamed chunks and whole bodies. A value is `Any` wherever some server is
known to send another type than the specification says. So nearly every chunk is decoded in
one step. `read_chunk` builds the same shape from any JSON value.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ...model import Usage
from ...plain import count_in

T = TypeVar("T", bound=Struct)


class Function(Struct, gc=False):
    """The function and its arguments: text as a rule, an object from some hosts."""

    name: Any = None
    arguments: Any = None
    input: Any = None  # of a custom tool: free text


class Fragment(Struct):
    """A piece of one call. Only the first piece must name the function."""

    index: Any = None
    id: Any = None
    function: Function | None = None
    custom: Function | None = None
    extra_content: Any = None


class Delta(Struct):
    """What a chunk adds to the message; also the message of a whole body."""

    content: Any = None
    tool_calls: list[Fragment] | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_text: Any = None
    reasoning_details: Any = None
    reasoning_opaque: Any = None
    refusal: Any = None
    function_call: Function | None = None
    extra_content: Any = None
    executed_tools: Any = None
    images: Any = None
    audio: Any = None
    annotations: Any = None


class ChunkChoice(Struct):
    index: Any = None
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: Any = None
    usage: Any = None
    error: Any = None


class Chunk(Struct):
    choices: list[ChunkChoice] | None = None
    usage: Any = None
    error: Any = None
    object: Any = None
    x_groq: Any = None
    citations: Any = None


decode = msgspec.json.Decoder(Chunk).decode


def is_done(data: bytes) -> bool:
    """Whether a payload is the mark that ends a stream. It is not JSON, and some servers pad it."""
    return data.strip() == b"[DONE]"


def read_chunk(value: Any) -> Chunk:
    """The chunk in any JSON value. Values of a wrong type are left out."""
    fields = value if isinstance(value, dict) else {}
    chunk = _fill_struct(Chunk, fields)
    if chunk.choices is not None:
        chunk.choices = [_read_choice(choice) for choice in dicts(chunk.choices)]
    return chunk


def _read_choice(fields: dict[str, Any]) -> ChunkChoice:
    choice = _fill_struct(ChunkChoice, fields)
    choice.delta = _read_delta(fields.get("delta"))
    choice.message = _read_delta(fields.get("message"))
    return choice


def _read_delta(fields: Any) -> Delta | None:
    if not isinstance(fields, dict):
        return None
    delta = _fill_struct(Delta, fields)
    delta.function_call = _read_function(fields.get("function_call"))
    calls = fields.get("tool_calls")
    delta.tool_calls = (
        [_read_fragment(call) for call in dicts(calls)] if isinstance(calls, list | dict) else None
    )
    return delta


def _read_fragment(fields: dict[str, Any]) -> Fragment:
    fragment = _fill_struct(Fragment, fields)
    fragment.function = _read_function(fields.get("function"))
    fragment.custom = _read_function(fields.get("custom"))
    return fragment


def _read_function(fields: Any) -> Function | None:
    return _fill_struct(Function, fields) if isinstance(fields, dict) else None


def _fill_struct(kind: type[T], fields: dict[str, Any]) -> T:
    return kind(**{name: fields[name] for name in kind.__struct_fields__ if name in fields})


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; a lone object counts as a list of one."""
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, dict)]


def usage_of(counts: Any) -> Usage | None:
    """Token counts, under the names of OpenAI and of the servers that speak Chat."""
    if not isinstance(counts, dict):
        return None
    details = counts.get("prompt_tokens_details")
    return Usage(
        input=count_in(counts.get("prompt_tokens")),
        output=count_in(counts.get("completion_tokens")),
        total=count_in(counts.get("total_tokens")),
        cached_input=_first_count(detail_in(details, "cached_tokens"), *map(counts.get, CACHED)),
        cache_write=_first_count(
            detail_in(details, "cache_write_tokens"), counts.get("cache_creation_input_tokens")
        ),
        reasoning=_first_count(
            detail_in(counts.get("completion_tokens_details"), "reasoning_tokens"),
            counts.get("reasoning_tokens"),
        ),
    )


CACHED = ("num_cached_tokens", "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
"""Cached tokens at Mistral, Together, DeepSeek and Anthropic's gateways, in this order."""


def detail_in(details: Any, name: str) -> Any:
    return details.get(name) if isinstance(details, dict) else None


def _first_count(*values: Any) -> int | None:
    return next((number for value in values if (number := count_in(value)) is not None), None)
