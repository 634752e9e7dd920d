"""The shape of a Chat Completions chunk, as wide as real servers write it.

One shape serves streamed chunks and whole bodies. Values are left as `Any` wherever some
server is known to send another type than the specification says, so that nearly every
chunk is decoded in one step; `read` builds the same shape from anything at all.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ...model import Usage

T = TypeVar("T", bound=Struct)


class Function(Struct, gc=False):
    """Which function, and what it is given: text as a rule, an object from some hosts."""

    name: Any = None
    arguments: Any = None
    input: Any = None  # of a custom tool: free text


class Fragment(Struct):
    """A piece of one call. Only the first piece has to say which."""

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


class Choice(Struct):
    index: Any = None
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: Any = None
    usage: Any = None
    error: Any = None


class Chunk(Struct):
    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    object: Any = None
    x_groq: Any = None


decode = msgspec.json.Decoder(Chunk).decode


def is_done(data: bytes) -> bool:
    """Whether a payload is the mark that ends a stream, which is no JSON; some servers pad it."""
    return data.strip() == b"[DONE]"


def read(value: Any) -> Chunk:
    """The chunk in any JSON value; what does not fit its place is left out."""
    fields = value if isinstance(value, dict) else {}
    chunk = _filled(Chunk, fields)
    if chunk.choices is not None:
        chunk.choices = [_choice(choice) for choice in dicts(chunk.choices)]
    return chunk


def _choice(fields: dict[str, Any]) -> Choice:
    choice = _filled(Choice, fields)
    choice.delta = _delta(fields.get("delta"))
    choice.message = _delta(fields.get("message"))
    return choice


def _delta(fields: Any) -> Delta | None:
    if not isinstance(fields, dict):
        return None
    delta = _filled(Delta, fields)
    delta.function_call = _function(fields.get("function_call"))
    calls = fields.get("tool_calls")
    delta.tool_calls = [_fragment(call) for call in dicts(calls)] if isinstance(calls, list | dict) else None
    return delta


def _fragment(fields: dict[str, Any]) -> Fragment:
    fragment = _filled(Fragment, fields)
    fragment.function = _function(fields.get("function"))
    fragment.custom = _function(fields.get("custom"))
    return fragment


def _function(fields: Any) -> Function | None:
    return _filled(Function, fields) if isinstance(fields, dict) else None


def _filled(kind: type[T], fields: dict[str, Any]) -> T:
    return kind(**{name: fields[name] for name in kind.__struct_fields__ if name in fields})


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; a lone object counts as a list of one."""
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, dict)]


def usage_of(counts: Any) -> Usage | None:
    """Token counts, under the names that OpenAI and those who speak its language give them."""
    if not isinstance(counts, dict):
        return None
    details = counts.get("prompt_tokens_details")
    return Usage(
        input=count(counts.get("prompt_tokens")),
        output=count(counts.get("completion_tokens")),
        total=count(counts.get("total_tokens")),
        cached_input=_first(within(details, "cached_tokens"), *map(counts.get, CACHED)),
        cache_write=_first(within(details, "cache_write_tokens"), counts.get("cache_creation_input_tokens")),
        reasoning=_first(
            within(counts.get("completion_tokens_details"), "reasoning_tokens"),
            counts.get("reasoning_tokens"),
        ),
    )


CACHED = ("num_cached_tokens", "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
"""What Mistral, Together, DeepSeek and Anthropic's gateways call the tokens read from a cache."""


def within(details: Any, name: str) -> Any:
    return details.get(name) if isinstance(details, dict) else None


def _first(*values: Any) -> int | None:
    return next((number for value in values if (number := count(value)) is not None), None)


def count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
