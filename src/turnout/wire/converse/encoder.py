"""Write Converse: user and assistant in turn, results first, calls last.

The messages already sent stay as they are. Only the last one ends with a cache point, where the
model has a cache, so that the next request finds everything before it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...ids import IdProjection
from ...model import Media, Message, Text, Thinking, ToolCall, ToolResponse, ToolSpec, block_text
from ..options import Options
from ..request import Setting
from ..shared.body import FIRST_FILLER, LAST_FILLER, TEXT_FILLER, body_bytes
from ..shared.content import (
    as_reminder,
    is_blank,
    is_failed,
    nonblank,
    note_once,
    response_media,
    text_of_blocks,
)
from ..shared.growing_bytes import Roll, Wire
from ..shared.open_loop import Loop
from .content import (
    DocumentNames,
    cited_text,
    media_block,
    native_block,
    result_block,
    text_block,
    thinking_block,
)
from .dialect import ConverseDialect
from .fields import ConverseFields, cache_point

DOCUMENT_FILLER = "See the attached document."
NO_CALLS = "Answer in text now. Do not call a tool."
"""Converse has no word for "call no tool", and wants the tools of earlier calls declared (BDK-03)."""


class ConverseEncoder:
    """Messages as Converse wants them."""

    def __init__(
        self, dialect: ConverseDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self.called: dict[str, None] = {}
        self._keeps_thinking = thinking is not False
        self._roll = Roll(_merge_same_role)
        self._fields = ConverseFields(dialect, setting, ids)
        self._names = DocumentNames()
        self._loop = Loop()
        self._fillers: list[str] = []

    def feed(self, message: Message) -> None:
        self._loop = self._add_message(self._roll, self._loop, message, self._names, self._fillers)

    # Messages

    def _add_message(
        self, roll: Roll, loop: Loop, message: Message, names: DocumentNames, changes: list[str]
    ) -> Loop:
        role = "assistant" if message.role == "model" else "user"
        content = list(self._content(message, names, changes))
        if not content:
            return loop
        if role == "user" and _needs_text(content):
            content.append(text_block(DOCUMENT_FILLER))  # after the results, which come first
            changes.append("a text added: Converse wants one beside a document")
        opening = roll.last["content"][0] if roll.last is not None and roll.last_role == role else content[0]
        if roll.empty and role == "assistant":
            changes.append("BDK-02 first-role filler: the conversation must start with the user")
            roll.add({"role": "user", "content": [text_block(FIRST_FILLER)]})
        roll.add({"role": role, "content": content})
        return loop.after(message, "reasoningContent" in opening)

    def _content(self, message: Message, names: DocumentNames, changes: list[str]) -> Iterable[Wire]:
        match message.role:
            case "model":
                return self._assistant_content(message, changes)
            case "tool":
                return self._results(message.responses, names, changes)
            case "system":
                text = text_of_blocks(message.blocks)
                return [text_block(as_reminder(text))] if text else []
            case _:
                return self._user_content(message, names, changes)

    def _user_content(self, message: Message, names: DocumentNames, changes: list[str]) -> Iterator[Wire]:
        for block in nonblank(message.blocks):
            if (native := native_block(block)) is not None:
                yield _with_new_name(native, names)
            elif isinstance(block, Media):
                yield media_block(block, names, changes)
            elif text := block_text(block):
                yield text_block(text)

    def _assistant_content(self, message: Message, changes: list[str]) -> Iterator[Wire]:
        """The calls come last in every turn. Signed thoughts keep their order among the rest."""
        blocks = sorted(message.blocks, key=lambda block: isinstance(block, ToolCall))
        for at, block in enumerate(blocks):
            match block:
                case ToolCall():
                    self.called[block.name] = None
                    call = {"toolUseId": self.ids[block.id], "name": self.ids.name(block.name)}
                    yield {"toolUse": {**call, "input": block.arguments}}
                case Thinking() if not self._keeps_thinking:
                    note_once(changes, "thinking left out: thinking is off in this request")
                case Thinking():
                    wire = thinking_block(block, self.dialect, self.setting.model, changes)
                    if wire is not None:
                        yield wire
                case Text() if is_blank(block.text):
                    # ANT-18: signed thinking keeps its position, so the block between two of them stays.
                    if self.dialect.returns_thinking and _is_between_thoughts(blocks, at):
                        yield text_block(TEXT_FILLER)
                case Text():
                    yield native_block(block) or cited_text(block, changes)
                case Media():
                    yield text_block(block_text(block))  # images stand only in messages of the user
                case _:
                    said = block_text(block)  # type: ignore[arg-type]
                    if wire := native_block(block) or (text_block(said) if not is_blank(said) else None):
                        yield wire

    def _results(
        self, responses: Sequence[ToolResponse], names: DocumentNames, changes: list[str]
    ) -> Iterator[Wire]:
        """BDK-01: all results first, in one message. Media that a result cannot hold comes after."""
        for response in responses:
            yield result_block(response, self.ids[response.call_id], self.dialect, names, changes)
        for response in responses:
            if is_failed(response) or not self.dialect.media_in_results:
                yield from (media_block(media, names, changes) for media in response_media(response))

    # Request

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        changes = list(self._fillers)
        roll, loop, names = self._roll.branch(), self._loop, self._names.branch()
        for message in tail:
            loop = self._add_message(roll, loop, message, names, changes)
        if roll.last is None:
            roll.add({"role": "user", "content": [text_block(FIRST_FILLER)]})
            changes.append("first-role filler: there was nothing to send")
        elif roll.last_role == "assistant":
            roll.add({"role": "user", "content": [text_block(LAST_FILLER)]})
            changes.append("BDK-02 last-role filler: a request must end with the user")
        fields = self._fields.of(loop, self.called, system, tools, options, changes)
        self._end_last_message(roll, fields, system, tools, options, changes)
        return body_bytes(fields, "messages", (self._roll.closed_pieces, [roll.bytes()])), changes

    def _end_last_message(
        self,
        roll: Roll,
        fields: Wire,
        system: str,
        tools: Sequence[ToolSpec],
        options: Options,
        changes: list[str],
    ) -> None:
        """What only the last message of a request has."""
        assert roll.last is not None
        content = roll.last["content"]
        if system.strip() and not self.dialect.takes_system:
            content.append(text_block(as_reminder(system)))
            changes.append(f"system text sent by the user: {self.setting.model} takes no system text")
        if options.tool_choice == "none" and tools and "toolConfig" in fields:
            content.append(text_block(NO_CALLS))
            changes.append("BDK-03 tool_choice none sent in words: Converse has no word for it")
        if options.caches("messages") and "messages" in self.dialect.caching:
            content.append(cache_point(options, self.dialect))


def _merge_same_role(last: Wire, following: Wire) -> bool:
    if last["role"] != following["role"]:
        return False
    last["content"].extend(following["content"])
    return True


def _needs_text(content: Sequence[Wire]) -> bool:
    return any("document" in block for block in content) and not any("text" in block for block in content)


def _with_new_name(wire: Wire, names: DocumentNames) -> Wire:
    """A kept document under a name that no other document of the request has."""
    if "document" not in wire:
        return wire
    document = wire["document"]
    return {"document": {**document, "name": names.choose(str(document.get("name") or ""))}}


def _is_between_thoughts(blocks: Sequence[object], at: int) -> bool:
    around = blocks[max(at - 1, 0) : at + 2]
    return len(around) == 3 and isinstance(around[0], Thinking) and isinstance(around[2], Thinking)
