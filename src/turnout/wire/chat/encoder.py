"""Write OpenAI Chat Completions, for every server that speaks a dialect of it.

A dialect is a record of named differences. The code for each stands here once, or in `fields`
if it is not about messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ...ids import IdProjection
from ...model import (
    Block,
    Media,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    ToolSpec,
    block_text,
)
from ..options import Options
from ..request import Setting
from ..responses.client_forms import CUSTOM, form_of
from ..shared.body import FIRST_FILLER, JSON_REMINDER, LAST_FILLER, TEXT_FILLER, body_bytes, encode, says_json
from ..shared.content import (
    as_reminder,
    base64_url,
    has_private_state,
    is_blank,
    nonblank,
    note_once,
    response_media,
    response_text,
    text_of_blocks,
)
from ..shared.growing_bytes import Roll, Wire, never
from ..shared.open_loop import Loop
from ..shared.residues import SENTINEL, chat_part, fields_of, reasoning_details, text_field, thinking_chunk
from .dialect import ChatDialect
from .fields import ChatFields

# Stands between a result and the user's next message where Mistral refuses "role 'user' after role 'tool'".
BRIDGE = "OK."
# OpenAI: "Invalid 'messages[2].tool_calls': array too long. Expected an array with maximum length 128".
MAX_CALLS = 128
UNSIGNED = "GEM-09 sentinel signature: no signature of this model exists"


class ChatEncoder:
    """Messages as Chat Completions wants them."""

    def __init__(
        self, dialect: ChatDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self.called: dict[str, None] = {}
        self._thinks = self._is_thinking(thinking)
        merge = _merge_words if dialect.calls_alone else _merge_messages
        self._roll = Roll(merge if dialect.alternates else never)
        self._fields = ChatFields(dialect, setting, ids, self._thinks)
        self._loop = Loop()
        self._fillers: list[str] = []
        self._crowded: Message | None = None  # has more calls than one message may; waits for its results
        self._stand_ins: list[str] = []  # changes of the message just written

    def _is_thinking(self, asked: bool | None) -> bool:
        if asked is False and self.dialect.stops_thinking:
            return False
        return self.dialect.thinks_unasked or bool(asked)

    def feed(self, message: Message) -> None:
        self._loop = self._add_message(self._roll, self._loop, message, self._fillers)

    # Messages

    def _add_message(self, roll: Roll, loop: Loop, message: Message, changes: list[str]) -> Loop:
        if len(message.blocks) > MAX_CALLS and len(message.tool_calls) > MAX_CALLS:
            self._crowded = message
            return loop
        if (crowded := self._crowded) is not None:
            self._crowded = None
            changes.append(f"OAC-05 {len(crowded.tool_calls)} calls sent as groups of {MAX_CALLS}")
            for part in _groups(crowded, message):
                loop = self._add_message(roll, loop, part, changes)
            return loop
        sent = shown = False
        for wire in self._wire(message):
            sent, shown = True, shown or (wire["role"] == "user" and message.role == "tool")
            if (
                roll.empty
                and self.dialect.starts_with_user
                and wire["role"] not in ("user", "system", "developer")
            ):
                changes.append("first-role filler: the conversation must start with the user")
                roll.add({"role": "user", "content": FIRST_FILLER})
            if self.dialect.bridges_tool_to_user and roll.last_role == "tool" and wire["role"] == "user":
                changes.append("bridge: a user message must not follow a tool message")
                roll.add({"role": "assistant", "content": BRIDGE})
            roll.add(wire)
        if self._stand_ins:
            for line in self._stand_ins:
                note_once(changes, line)
            self._stand_ins.clear()
        after = loop.after(message, _is_reasoned(message)) if sent else loop  # blank text does not end a loop
        return replace(after, spoken=True) if shown else after  # media of tools goes in a user message

    def _wire(self, message: Message) -> Iterator[Wire]:
        match message.role:
            case "model":
                return self._assistant(message)
            case "tool":
                return self._results(message)
            case "system":
                return self._system(message)
            case _:
                return self._user(message)

    def _user(self, message: Message) -> Iterator[Wire]:
        if (content := self._content(nonblank(message.blocks))) is not None:
            wire = {"role": "user", "content": content}
            yield {**wire, **_speaker_name(message)} if has_private_state(message) else wire

    def _system(self, message: Message) -> Iterator[Wire]:
        text = text_of_blocks(message.blocks)
        if text and self.dialect.system_anywhere:
            yield {"role": self.dialect.system_role, "content": text, **_speaker_name(message)}
        elif text:
            yield {"role": "user", "content": as_reminder(text)}

    def _assistant(self, message: Message) -> Iterator[Wire]:
        calls = [self._call_entry(call) for call in message.tool_calls]
        wire: Wire = {"role": "assistant", "content": self._said_content(message)}
        self._add_reasoning(wire, message, bool(calls))
        if is_private := has_private_state(message):
            self._note_lost_thoughts(wire, message)
        if wire["content"] is None and (audio := _spoken_audio(message)):
            wire["audio"] = audio
        # xAI and Kimi refuse a message without content: "must not be empty" (XAI-01, KIM-04).
        elif wire["content"] is None and not calls:
            if set(wire) == {"role", "content"} or not any(isinstance(b, Thinking) for b in message.blocks):
                return
            wire["content"] = TEXT_FILLER
        # Old tokenizers of Mistral: "must have either content or tool_calls, but not both" (MIS-07).
        if calls and wire["content"] is not None and self.dialect.calls_alone:
            yield {"role": "assistant", "content": wire["content"]}
            wire["content"] = None
        if wire["content"] is None:
            wire["content"] = self.dialect.content_when_empty
        if calls:
            wire["tool_calls"] = calls
            if self.dialect.unreasoned_calls == "extra_content" and "extra_content" not in calls[0]:
                calls[0]["extra_content"] = {"google": {"thought_signature": SENTINEL}}
                self._stand_ins.append(UNSIGNED)
        yield {**wire, **_speaker_name(message)} if is_private else wire

    def _said_content(self, message: Message) -> Any:
        """The model's text, and chunks of thinking. Chat has no place for media of the model."""
        said: list[Block] = []
        for block in message.blocks:
            if isinstance(block, Text):
                said += [] if is_blank(block.text) else [block]
            elif isinstance(block, Thinking):
                said += [block] if self.dialect.reasoning_field == "chunks" else []
            elif isinstance(block, Opaque):
                said.append(block)
            elif not isinstance(block, (ToolCall, ToolResponse)):
                said.append(Text(block_text(block)))
        return self._content(said)

    def _content(self, blocks: Sequence[Block | ToolResponse]) -> Any:
        if len(blocks) == 1 and isinstance(text := blocks[0], Text):  # nearly every message
            return None if is_blank(text.text) else text.text
        parts = [part for part in map(self._part, blocks) if not _is_blank(part)]
        if all(part["type"] == "text" for part in parts) and (len(parts) < 2 or not self.dialect.text_parts):
            return "\n\n".join(part["text"] for part in parts) or None
        return parts

    def _part(self, block: Any) -> Wire:
        match block:
            case Media():
                return _media_part(block, self.dialect.document_part)
            case Thinking():
                chunk = thinking_chunk(block.residue)
                return {**chunk, "type": "thinking", "thinking": [{"type": "text", "text": block.text}]}
            case Opaque() if part := chat_part(block.residue):
                return part
            case _:
                return {"type": "text", "text": block_text(block)}

    def _call_entry(self, call: ToolCall) -> Wire:
        self.called[call.name] = None
        name = self.ids.name(call.name)
        if form_of(call) == CUSTOM:  # a tool that takes free text, called through this API
            custom = {"name": name, "input": call.arguments["input"]}
            return {"id": self.ids[call.id], "type": "custom", "custom": custom}
        wire: Wire = {
            "id": self.ids[call.id],
            "type": "function",
            # Always JSON, never "": OpenAI does not look, but vLLM, llama.cpp, Ollama and Mistral parse it.
            "function": {"name": name, "arguments": encode(call.arguments).decode()},
        }
        # Google's signature rides here on hosts that speak Chat for Gemini; without it Gemini 3 answers 400.
        extra = fields_of(call.residue).get("extra_content")
        if isinstance(extra, dict) and extra:
            wire["extra_content"] = extra
        return wire

    def _add_reasoning(self, wire: Wire, message: Message, calls: bool) -> None:
        """Send back the reasoning that this server wrote, or a placeholder if it requires one.

        Kimi and DeepSeek refuse calls without their reasoning (KIM-02, DSK-01); OpenRouter wants
        `reasoning_details` back whole (ORT-02).
        """
        name = self.dialect.reasoning_field
        if name == "chunks" or (self.dialect.requires_reasoning and not self._thinks):
            return
        if name is None and not self.dialect.echoes_details:
            return
        thoughts = [block for block in message.blocks if isinstance(block, Thinking)]
        state = _private_state(thoughts, self._stand_ins)
        if name is None:
            if self.dialect.echoes_details and "reasoning_details" in state:
                wire["reasoning_details"] = state["reasoning_details"]
            return
        wire.update(state)
        if calls and self.dialect.unreasoned_calls == "sentinel" and "reasoning_details" not in wire:
            wire["reasoning_details"] = [_sentinel(self.ids[message.tool_calls[0].id])]
            self._stand_ins.append(UNSIGNED)
        if "reasoning_details" in wire:
            return  # they hold the text too
        if name == "reasoning_text" and "reasoning_opaque" not in wire:
            return  # COP-03: the text goes back only with the opaque state that it belongs to
        # Whether its own or a placeholder, Kimi and DeepSeek want the field: "reasoning_content is missing
        # in assistant tool call message at index 7". A space is safer than an empty text.
        if text := "".join(block.text for block in thoughts):
            wire[name] = text
        elif self.dialect.requires_reasoning == "all" or (self.dialect.requires_reasoning and calls):
            wire[name] = self.dialect.reasoning_placeholder
            self._stand_ins.append(
                f"placeholder {name}: this model requires its reasoning back, and there is none"
            )

    def _note_lost_thoughts(self, wire: Wire, message: Message) -> None:
        if any(_has_annotations(block) for block in message.blocks):
            self._stand_ins.append("annotations left out: this API does not take them back")
        if self.dialect.reasoning_field == "chunks" or len(wire) > 2:
            return  # it goes back, or a placeholder does
        if any(isinstance(block, Thinking) for block in message.blocks):
            self._stand_ins.append("thinking left out: this server does not take it back")

    def _results(self, message: Message) -> Iterator[Wire]:
        responses = message.responses
        for response in responses:
            wire = {
                "role": "tool",
                "tool_call_id": self.ids[response.call_id],
                "content": response_text(response, marks_errors=True),
            }
            if self.dialect.names_tool_results:
                wire["name"] = self.ids.name(response.name)
            yield wire
        # Tool messages hold text only, and OAC-01 allows nothing between them: media comes after the last.
        if media := [(response, block) for response in responses for block in response_media(response)]:
            parts: list[Wire] = []
            for response, block in media:
                parts.append({"type": "text", "text": f"From {self.ids.name(response.name)}:"})
                parts.append(self._part(block))
            yield {"role": "user", "content": parts}

    # Request

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        changes = list(self._fillers)
        roll, loop = self._roll.branch(), self._loop
        for message in tail:
            loop = self._add_message(roll, loop, message, changes)
        # Some servers take a last message of the model for the beginning of the reply, others refuse it
        # (Copilot: "The conversation must end with a user message"). Neither is what a caller means.
        if roll.last is None or roll.last_role == "assistant":
            changes.append("last-role filler: a request must not end with a message of the model")
            roll.add({"role": "user", "content": LAST_FILLER if roll.last else FIRST_FILLER})
        if options.json and not says_json([system.encode()], self._roll.closed_pieces, [roll.bytes()]):
            changes.append("a sentence about JSON added: the API refuses JSON mode without the word JSON")
            system = f"{system}\n\n{JSON_REMINDER}" if not is_blank(system) else JSON_REMINDER
        opening = self._system_bytes(system, changes)
        fields = self._fields.of(loop, self.called, tools, options, changes)
        return body_bytes(fields, "messages", ([opening], self._roll.closed_pieces, [roll.bytes()])), changes

    def _system_bytes(self, system: str, changes: list[str]) -> bytes:
        if is_blank(system):
            return b""
        role = self.dialect.system_role
        if role == "user":
            changes.append(f"OAC-15 system text sent as the user: {self.setting.model} has no system role")
            system = as_reminder(system)
        return encode({"role": role, "content": system})


def _groups(said: Message, answered: Message) -> Iterator[Message]:
    """A turn with too many calls, and its results, as several turns. Other blocks stay in the first."""
    calls, rest = said.tool_calls, [block for block in said.blocks if not isinstance(block, ToolCall)]
    for start in range(0, len(calls), MAX_CALLS):
        group = slice(start, start + MAX_CALLS)
        yield replace(said, blocks=(*rest, *calls[group]))
        yield replace(answered, blocks=answered.responses[group])
        rest = []


def _has_annotations(block: Any) -> bool:
    residue = getattr(block, "residue", None)
    return residue is not None and isinstance(residue.data, dict) and "annotations" in residue.data


def _speaker_name(message: Message) -> Wire:
    """The name of the speaker, if the history has it for this server."""
    for block in message.blocks:
        residue = getattr(block, "residue", None)
        if residue is not None and isinstance(residue.data, dict) and "speaker" in residue.data:
            return {"name": residue.data["speaker"]}
    return {}


def _sentinel(call_id: str) -> Wire:
    """GEM-09: what Gemini accepts as a signature on calls of others, in OpenRouter's form."""
    return {
        "type": "reasoning.encrypted",
        "format": "google-gemini-v1",
        "id": call_id,
        "index": 0,
        "data": SENTINEL,
    }


def _private_state(thoughts: Sequence[Thinking], changes: list[str]) -> Wire:
    state: Wire = {}
    for thought in thoughts:
        if opaque := text_field(thought.residue, "reasoning_opaque"):
            state["reasoning_opaque"] = opaque
        if details := reasoning_details(thought.residue, changes):
            known = state.setdefault("reasoning_details", [])
            state["reasoning_details"] = [*known, *(detail for detail in details if detail not in known)]
    return state


def _is_reasoned(message: Message) -> bool:
    """Whether the message carries reasoning that OpenRouter gave."""
    return any(
        isinstance(block, Thinking) and reasoning_details(block.residue, []) for block in message.blocks
    )


def _spoken_audio(message: Message) -> Wire:
    """What the model said aloud, by the id that OpenAI keeps it under; {} where there is none."""
    held = [fields_of(block.residue).get("audio") for block in message.blocks if isinstance(block, Opaque)]
    ids = [audio["id"] for audio in held if isinstance(audio, dict) and isinstance(audio.get("id"), str)]
    return {"id": ids[0]} if ids else {}


def _is_blank(part: Wire) -> bool:
    return part["type"] == "text" and is_blank(part["text"])


def _media_part(media: Media, document_part: str) -> Wire:
    url = media.uri or base64_url(media)
    if media.mime.startswith("image/"):
        detail = text_field(media.residue, "detail", DETAILS)
        return {"type": "image_url", "image_url": {"url": url, "detail": detail} if detail else {"url": url}}
    if document_part == "document_url" and media.mime == "application/pdf":
        return {"type": "document_url", "document_url": url, "document_name": media.name or "file.pdf"}
    if kind := text_field(media.residue, "part", LINKED_PARTS):
        return {"type": kind, kind: {"url": url}}
    if media.uri:
        return {"type": "text", "text": block_text(media)}
    if media.mime.startswith("audio/"):
        kind = media.mime.partition("/")[2]
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": AUDIO.get(kind, kind)}}
    return {"type": "file", "file": {"filename": media.name or "file", "file_data": url}}


DETAILS = ("auto", "low", "high")
LINKED_PARTS = ("video_url", "audio_url")  # of servers that are not OpenAI's
AUDIO: Mapping[str, str] = {"mpeg": "mp3", "mp3": "mp3", "wav": "wav", "x-wav": "wav", "wave": "wav"}


def _merge_messages(last: Wire, following: Wire) -> bool:
    """Join neighbours of one role, for chat templates that require alternation."""
    role = last["role"]
    if role != following["role"] or role not in ("user", "assistant") or "tool_calls" in last:
        return False
    last["content"] = _join_content(last["content"], following["content"])
    last.update({key: value for key, value in following.items() if key not in ("role", "content")})
    return True


def _merge_words(last: Wire, following: Wire) -> bool:
    return "tool_calls" not in following and _merge_messages(last, following)


def _join_content(first: Any, second: Any) -> Any:
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_content_parts(first), *_content_parts(second)]


def _content_parts(content: Any) -> list[Wire]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
