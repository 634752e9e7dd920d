"""Read Chat Completions: chunks or a whole body become events, from any server.

Every field in which some server sends reasoning is read on every stream. A text counts once,
even if several fields repeat it. What a server wants back of its reasoning is residue of the
thinking: `field` is where the text came from, and the last block with `reasoning_details` or
`reasoning_opaque` holds all of it. Calls are complete, and the reply is done, at `[DONE]`, or
at the end of a body that gave a finish reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec
from msgspec import Struct

from ...errors import FailureKind, ProviderError
from ...history.opaque_text import words_of
from ...history.sources import sources_block
from ...model import Media, Opaque, Origin, Residue, Stop
from ...plain import dumps, loads
from ...streaming.events import StreamEvent
from ...streaming.raw_text import RawText
from ...streaming.reply import NOTHING, Events, ReplyBuilder
from ...streaming.texttools import syntax_of
from ...streaming.thinktags import ThinkTags
from ..failure.read_failure import excerpt, stream_failure, undecodable
from ..protocol import ReadOptions
from .chunk import Chunk, ChunkChoice, Delta, Fragment, Function, decode, dicts, is_done, read_chunk, usage_of
from .dialect import ChatDialect

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")

STOPS: dict[str, Stop] = {
    "stop": "end",
    "eos": "end",
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refused",
    "refusal": "refused",
    "safety": "refused",
    "": "end",
}

FAILED_STOPS: dict[str, FailureKind] = {"error": "server", "insufficient_system_resource": "overloaded"}
"""Finish reasons that are failures: at OpenRouter and Mistral; at DeepSeek, when it lacks machines."""


class ChatOptions(Struct, frozen=True):
    """How the replies of a server are read."""

    think_tags: str = ""  # the tag in which thinking stands within the text: "think"
    think_opened: bool = False  # the prompt template has written the opening tag already
    joins_choices: bool = False  # text and calls may come in different choices (Copilot)
    text_tools: str = (
        ""  # the syntax of calls that the server leaves in the text: a name in texttools.SYNTAXES
    )


def chat_options(dialect: ChatDialect, model: str, asked: ReadOptions) -> ChatOptions:
    """How the replies of a server are read, given what the caller asked for."""
    tags = dialect.think_tags if asked.think_tags is None else asked.think_tags
    syntax = syntax_of(model) if asked.text_tools else ""
    return ChatOptions("think" if tags else "", joins_choices=dialect.joins_choices, text_tools=syntax)


def raw_text_reader(reply: ReplyBuilder, options: ChatOptions) -> RawText | None:
    """Takes thinking and calls out of the text, for servers that leave them there."""
    if not options.think_tags and not options.text_tools:
        return None
    tag = options.think_tags
    return RawText(reply, ThinkTags(tag, opened=options.think_opened) if tag else None, options.text_tools)


class ChatDecoder:
    """Feed the chunks of one reply; get events. `reply` holds what has arrived so far."""

    def __init__(self, origin: Origin, turn_key: str, options: ChatOptions | None = None) -> None:
        self.reply = ReplyBuilder(origin, turn_key)
        self._options = options = options or ChatOptions()
        self._raw_text = raw_text_reader(self.reply, options)
        self._unsealed = False  # thinking is open, or its residue is not stored yet
        self._field = ""  # where the open thinking came from
        self._state: dict[str, Any] = {}
        self._details: list[dict[str, Any]] = []
        self._custom: set[int | None] = set()
        self._server_tools: dict[str, dict[str, Any]] = {}
        self._cited: list[Any] = []
        self._refused = False
        self._finish: str | None = None

    def feed(self, event: str, data: bytes) -> Events:
        """The events in one payload."""
        try:
            chunk = decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._read_odd_payload(event, data)
        if chunk.error is None and (chunk.choices or chunk.usage is not None):
            return self._read_chunk(chunk)
        return self._read_odd_payload(event, data)

    def close(self) -> Events:
        """The end of the body. Without a finish reason the reply was cut off."""
        # STR-02: servers end a body in the middle without an error; only a finish reason says it is whole.
        if self._finish is None:
            return self._fail_reply("truncated", "the stream ended before the reply did")
        return self._finish_reply()

    def whole(self, body: Any) -> Events:
        """The events of a body that was not streamed."""
        chunk = read_chunk(body)
        if (chunk.error and not _is_cut(chunk)) or not chunk.choices:
            return (
                *self._read_without_choices(chunk, body),
                *self.reply.fail("malformed", "the body holds no reply"),
            )
        self._finish = ""
        places = count()
        for choice in chunk.choices:
            if choice.message is not None:
                choice.delta = choice.message
                for fragment in choice.message.tool_calls or ():
                    fragment.index = next(places)  # here each is a whole call, whatever its index
        return (*self._read_chunk(chunk), *self._finish_reply())

    # -- one chunk

    def _read_chunk(self, chunk: Chunk) -> Events:
        events: Events = NOTHING
        for choice in chunk.choices or ():
            # Copilot sends Claude's text and calls as two choices of one reply. Elsewhere a second choice is
            # another answer to the same prompt, and one answer is all that we ask for.
            if not choice.index or self._options.joins_choices:
                found = self._read_choice(choice)
                events = (*events, *found) if events else found
        if chunk.usage is not None or chunk.x_groq is not None:
            self._count_usage(chunk)
        if chunk.citations:  # xAI and Perplexity: all addresses, in every chunk
            self._cited = [entry for entry in self._cited if isinstance(entry, dict)]
            self._cited += chunk.citations if isinstance(chunk.citations, list) else []
        return events

    def _read_choice(self, choice: ChunkChoice) -> Events:
        if choice.finish_reason:
            self._finish = str(choice.finish_reason)
        if choice.usage is not None and (usage := usage_of(choice.usage)):
            self.reply.usage(usage)  # Kimi counts here
        delta = choice.delta or choice.message
        said = self._read_delta(delta) if delta is not None else NOTHING
        return (*said, *self._fail_with_error({"error": choice.error})) if choice.error else said

    def _read_delta(self, delta: Delta) -> Events:
        """The events of one delta, in the order in which models write: thinking, text, calls."""
        events: Events = NOTHING
        if (
            delta.reasoning_content
            or delta.reasoning
            or delta.reasoning_details
            or delta.reasoning_text
            or delta.reasoning_opaque
        ):
            events = self._add_thinking(delta)
        if content := delta.content:
            said = self._add_text(content) if type(content) is str else self._add_content(content)
            events = (*events, *said) if events else said
        if calls := delta.tool_calls:
            called = self._add_fragments(calls)
            events = (*events, *called) if events else called
        if delta.annotations:
            self._cited += dicts(delta.annotations)
        if delta.refusal or delta.function_call or delta.executed_tools or delta.images or delta.audio:
            events = (*events, *self._rare_events(delta))
        return events

    def _rare_events(self, delta: Delta) -> Iterator[StreamEvent]:
        if delta.refusal:
            self._refused = True
            yield from self._add_text(_as_text(delta.refusal))
        if (function := delta.function_call) is not None and (function.name or function.arguments):
            yield from self._add_fragments([Fragment(index=0, function=function)])
        for image in dicts(delta.images):
            yield from self._add_block(_image(image))
        for tool in dicts(delta.executed_tools):
            self._server_tools[str(tool.get("index"))] = tool
        if isinstance(delta.audio, dict) and delta.audio.get("transcript"):
            yield from self._add_text(_as_text(delta.audio["transcript"]))

    def _count_usage(self, chunk: Chunk) -> None:
        # STR-07: usage comes after the finish reason, with it, or on every chunk: the last one counts.
        counts = chunk.usage
        if counts is None and isinstance(chunk.x_groq, dict):
            counts = chunk.x_groq.get("usage")
        if usage := usage_of(counts):
            self.reply.usage(usage)

    # -- text

    def _add_text(self, text: str) -> Events:
        said = self.reply.text if self._raw_text is None else self._raw_text.add_text
        if not self._unsealed:
            return said(text)
        return (*self._end_thinking(), *said(text))

    def _add_content(self, content: Any) -> Events:
        """Content that is not a text: parts, or JSON that the server has already parsed."""
        if not isinstance(content, list):
            return self._add_text(dumps(content))
        return [event for part in content for event in self._add_part(part)]

    def _add_part(self, part: Any) -> Events:
        if not isinstance(part, dict):
            return self._add_text(_as_text(part))
        kind = part.get("type")
        if kind == "thinking" or "thinking" in part:
            return self._thinking_part(part)
        if isinstance(text := part.get("text") or part.get("refusal"), str):
            self._refused = self._refused or kind == "refusal"
            return self._add_text(text)
        if kind == "image_url":
            return self._add_block(_image(part))
        residue = Residue(self.reply.origin, {"part": part}, "provider")
        return (
            self._add_block(Opaque(str(kind), words_of(str(kind), part), residue))
            if kind != "text"
            else NOTHING
        )

    def _add_block(self, block: Opaque | Media) -> Events:
        before = self._raw_text.settle() if self._raw_text is not None else NOTHING
        return (*before, *self._end_thinking(), *self.reply.opaque(block))

    # -- thinking

    def _add_thinking(self, delta: Delta) -> Events:
        field, text = _reasoning_in(delta)
        if delta.reasoning_details:
            text = self._keep_details(delta.reasoning_details, text)
        if delta.reasoning_opaque:
            self._state["reasoning_opaque"] = delta.reasoning_opaque
        self._unsealed = True
        self._field = self._field or field
        return self.reply.thinking(text) if self._raw_text is None else self._raw_text.add_thinking(text)

    def _keep_details(self, details: Any, text: str) -> str:
        """Keep the details; returns their text if no other field has it."""
        told = [_merge_detail(self._details, detail) for detail in dicts(details)]
        self._state["reasoning_details"] = self._details
        return text or ("" if self._field else "".join(told))

    def _thinking_part(self, part: dict[str, Any]) -> Events:
        """Mistral: thinking as parts of the content. A signature ends the thinking that it signs."""
        inner = part.get("thinking")
        pieces = [inner] if isinstance(inner, str) else [item.get("text") for item in dicts(inner)]
        events = self.reply.thinking("".join(piece for piece in pieces if isinstance(piece, str)))
        said = {name: part[name] for name in ("signature", "closed") if part.get(name) is not None}
        self._state["thinking_chunk"] = {**self._state.get("thinking_chunk", {}), **said}
        self._unsealed = True
        return (*events, *self._end_thinking()) if part.get("signature") else events

    def _end_thinking(self) -> Events:
        """End the thinking, with everything that its server wants back."""
        state, self._state = self._state, {}
        if self._field:
            state["field"] = self._field
        if "reasoning_details" in state:
            state["reasoning_details"] = [dict(detail) for detail in self._details]
        self._unsealed, self._field = False, ""
        held = self._raw_text.end_thought() if self._raw_text is not None else NOTHING
        return (*held, *self.reply.end_thinking(state)) if held else self.reply.end_thinking(state)

    # -- calls

    def _add_fragments(self, fragments: list[Fragment]) -> Events:
        before = self._raw_text.settle() if self._raw_text is not None else NOTHING
        if len(fragments) == 1 and not self._unsealed:
            called = self._add_fragment(fragments[0], 0)
            return (*before, *called) if before else called
        events = [*before, *self._end_thinking()]
        for position, fragment in enumerate(fragments):
            events += self._add_fragment(fragment, position)
        return events

    def _add_fragment(self, fragment: Fragment, position: int) -> Events:
        index = _number(fragment.index)
        function = fragment.function
        if function is not None:
            events = self.reply.fragment(index, fragment.id, function.name, function.arguments, position)
        elif fragment.custom is not None:
            events = self._custom_call(index, fragment, fragment.custom, position)
        else:
            events = self.reply.fragment(index, fragment.id, None, None, position)
        if fragment.extra_content is not None:  # Gemini's signature, on hosts that speak Chat
            self._mark_last_call({"extra_content": fragment.extra_content})
        return events

    def _custom_call(self, index: int | None, fragment: Fragment, tool: Function, position: int) -> Events:
        """A tool that takes free text: the same call with one argument, `input`."""
        piece = dumps(tool.input)[1:-1] if isinstance(tool.input, str) else ""
        if index in self._custom:
            return self.reply.fragment(index, fragment.id, tool.name, piece, position)
        self._custom.add(index)
        events = self.reply.fragment(index, fragment.id, tool.name, CUSTOM_HEAD + piece, position)
        self._mark_last_call({"custom": True})
        return events

    def _mark_last_call(self, data: dict[str, Any]) -> None:
        """Residue for the call of the last fragment."""
        self.reply.mark_call(self.reply.calls.last_call, data, "provider" if "custom" in data else "model")

    # -- the end

    def _finish_reply(self) -> Events:
        """The reply is over, so everything that was open is complete."""
        # STR-06: a reply with calls may say "stop" (Ollama, Gemini), one without may say "tool_calls":
        # the calls are counted, the reason is not believed.
        finish = self._finish or ""
        if finish in FAILED_STOPS:
            return self._fail_reply(FAILED_STOPS[finish], f"the provider stopped in the middle: {finish}")
        stop = "refused" if self._refused else STOPS.get(finish.lower(), "other")
        events = [*self._rest(), *self._server_run()]
        if self._cited:
            events += self._add_sources()
        if stop != "length":
            events += [
                event for index in self._custom for event in self.reply.fragment(index, None, None, '"}')
            ]
        events += self.reply.complete_all(cut=stop == "length")
        if self._finish is None and not self.reply.turn().blocks:
            return (*events, *self.reply.fail("truncated", "the stream ended and said nothing"))
        return (*events, *self.reply.done(stop, finish))

    def _rest(self) -> Events:
        """The text that was held back, because it could have been the beginning of a mark."""
        ending = self._end_thinking() if self._unsealed else NOTHING
        return (*ending, *self._raw_text.close()) if self._raw_text is not None else ending

    def _fail_reply(self, kind: FailureKind, message: str, cause: ProviderError | None = None) -> Events:
        held = self._raw_text.close() if self._raw_text is not None else NOTHING
        return (*held, *self.reply.fail(kind, message, cause))

    def _server_run(self) -> Events:
        """Tools that the server ran itself (Groq): kept for it, without a pair of call and result."""
        tools, self._server_tools = self._server_tools, {}
        return [event for tool in tools.values() for event in self._add_block(self._opaque(tool))]

    def _add_sources(self) -> Events:
        """The addresses that the reply cites: servers do not take them back."""
        residue = Residue(self.reply.origin, {"annotations": self._cited}, "provider")
        block = sources_block(self.reply.turn().text, self._cited, residue)
        return self._add_block(block) if block is not None else NOTHING

    def _opaque(self, tool: dict[str, Any]) -> Opaque:
        kind = tool.get("type")
        kind = kind if isinstance(kind, str) else "executed_tool"
        return Opaque(kind, words_of(kind, tool), Residue(self.reply.origin, {"executed_tool": tool}))

    # -- payloads that are not chunks

    def _read_odd_payload(self, event: str, data: bytes) -> Events:
        """Data that does not decode as a chunk: the end mark, unusual JSON, or not JSON."""
        if is_done(data):
            return self._finish_reply()
        try:
            body = loads(data)
        except (ValueError, RecursionError):
            if event == "error":
                return self._fail_with_error({"error": excerpt(data)})
            return self._fail_reply(*undecodable(data))
        chunk = read_chunk(body)
        if chunk.choices and not chunk.error:
            return self._read_chunk(chunk)
        if event == "error" and not isinstance(body, dict):
            return self._fail_with_error({"error": body})
        if _is_cut(chunk):
            return self._read_chunk(chunk)  # the error beside it says the same
        return self._read_without_choices(chunk, body)

    def _read_without_choices(self, chunk: Chunk, body: Any) -> Events:
        """A payload without choices: token counts, a failure, or something to ignore."""
        if not isinstance(body, dict):
            return self._fail_reply("malformed", f"a payload is not an object: {dumps(body)[:200]}")
        return self._fail_with_error(body) if _is_failure(body) else self._read_chunk(chunk)

    def _fail_with_error(self, body: dict[str, Any]) -> Events:
        # OpenRouter stops at the token limit and then reports it as an error ("Token limit reached").
        if _is_limit(self._finish):
            return NOTHING
        error = stream_failure(body)
        return self._fail_reply(error.kind, error.message, error)


def _number(index: Any) -> int | None:
    """The index of a fragment. Some servers write it as text; without it calls would be mixed up."""
    if isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < 10:
        return int(index)
    return index if type(index) is int else None


def _is_cut(chunk: Chunk) -> bool:
    return any(_is_limit(choice.finish_reason) for choice in chunk.choices or ())


def _is_limit(finish: Any) -> bool:
    return isinstance(finish, str) and STOPS.get(finish.lower()) == "length"


CUSTOM_HEAD = '{"input":"'


def _is_failure(body: dict[str, Any]) -> bool:
    """OpenAI sends an error object, xAI a string in its place; vLLM and gateways a bare message."""
    names = ("error",) if "choices" in body else ("error", "message", "detail", "errors")
    return any(body.get(name) for name in names)


def _reasoning_in(delta: Delta) -> tuple[str, str]:
    """The first reasoning field with text, and the text. Other fields repeat it."""
    for name in REASONING_FIELDS:
        value = getattr(delta, name)
        if value and isinstance(value, str):
            return name, value
    return "", ""


def _merge_detail(details: list[dict[str, Any]], piece: dict[str, Any]) -> str:
    """Add a streamed piece of `reasoning_details` to the list; returns its text.

    Pieces of one detail have the same type, index and id. Fields that are not text come once.
    """
    last = details[-1] if details else {}
    same = last and all(last.get(name) == piece.get(name, last.get(name)) for name in ("type", "index", "id"))
    text = "".join(piece[name] for name in ("text", "summary") if isinstance(piece.get(name), str))
    if not same or "data" in piece or not isinstance(piece.get("type"), str):
        details.append(dict(piece))
        return text
    for name, value in piece.items():
        if name in ("text", "summary") and isinstance(value, str) and isinstance(last.get(name), str):
            last[name] += value
        elif value is not None and value != "":
            last[name] = value
    return text


def _image(part: dict[str, Any]) -> Media:
    source = part.get("image_url")
    url = source.get("url") if isinstance(source, dict) else source
    head, _, data = str(url or "").partition(",")
    if head.startswith("data:") and head.endswith(";base64"):
        return Media(head[len("data:") : -len(";base64")], data=data)
    return Media("image/*", uri=str(url or ""))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)
