"""A Messages body, read once: the turns as the server joins them, and the traits of its model.

The server first joins neighbours of one role into one turn, so calls and results are paired
between turns, not between messages (recorded: two assistant messages in a row, both answered
by one user message, status 200).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from ..chat.view import mapping, text
from ..problem import Problem
from ..reading import Object, objects

MANUAL = frozenset({"enabled", "disabled"})
EITHER = frozenset({"enabled", "adaptive", "disabled"})
ADAPTIVE = frozenset({"adaptive", "disabled"})


class Traits(Struct, frozen=True, kw_only=True):
    """What one model accepts. For an unknown model only the common rules are applied."""

    thinking: frozenset[str] = EITHER
    thinks_unasked: bool = False
    sampling: bool = True
    prefill: bool = True
    system_messages: bool = True
    forced_tools: bool = True
    pairs_by_id: bool = True
    efforts: frozenset[str] = frozenset()  # empty: not known
    disabled_efforts: frozenset[str] = frozenset()  # efforts that refuse thinking disabled


UNKNOWN = Traits()
CLAUDE_3 = Traits(thinking=frozenset({"disabled"}), system_messages=False)
# Recorded in 2024: one call and one result of different ids, status 200.
CLAUDE_3_OPUS = Traits(thinking=frozenset({"disabled"}), system_messages=False, pairs_by_id=False)
CLAUDE_4 = Traits(thinking=MANUAL, system_messages=False)
CLAUDE_4_6 = Traits(thinking=EITHER, prefill=False, system_messages=False)
OPUS_4_6 = Traits(
    thinking=EITHER,
    prefill=False,
    system_messages=False,
    efforts=frozenset({"low", "medium", "high", "max"}),
)
CLAUDE_4_7 = Traits(thinking=ADAPTIVE, sampling=False, prefill=False, system_messages=False)
# Recorded: it thinks unasked, and takes system messages like Opus 4.8, status 200.
SONNET_5 = Traits(thinking=ADAPTIVE, thinks_unasked=True, sampling=False, prefill=False)
OPUS_4_8 = Traits(thinking=ADAPTIVE, sampling=False, prefill=False)
OPUS_5 = Traits(
    thinking=ADAPTIVE, sampling=False, prefill=False, disabled_efforts=frozenset({"xhigh", "max"})
)
OPUS_5_5 = Traits(
    thinking=ADAPTIVE,
    sampling=False,
    prefill=False,
    forced_tools=False,
    disabled_efforts=frozenset({"xhigh", "max"}),
)
FABLE = Traits(thinking=frozenset({"adaptive"}), thinks_unasked=True, sampling=False, prefill=False)
FABLE_5_1 = Traits(
    thinking=frozenset({"adaptive"}), thinks_unasked=True, sampling=False, prefill=False, forced_tools=False
)

# The longest prefix decides, unless a number follows it: that is another version.
MODELS: dict[str, Traits] = {
    "claude-3": CLAUDE_3,
    "claude-3-opus": CLAUDE_3_OPUS,
    "claude-3-5": CLAUDE_3,
    "claude-3-7": CLAUDE_4,
    "claude-opus-4": CLAUDE_4,
    "claude-opus-4-0": CLAUDE_4,
    "claude-opus-4-1": CLAUDE_4,
    "claude-opus-4-5": CLAUDE_4,
    "claude-sonnet-4": CLAUDE_4,
    "claude-sonnet-4-0": CLAUDE_4,
    "claude-sonnet-4-5": CLAUDE_4,
    "claude-haiku-4-5": CLAUDE_4,
    "claude-opus-4-6": OPUS_4_6,
    "claude-sonnet-4-6": CLAUDE_4_6,
    "claude-opus-4-7": CLAUDE_4_7,
    "claude-opus-4-8": OPUS_4_8,
    "claude-sonnet-5": SONNET_5,
    "claude-opus-5": OPUS_5,
    "claude-opus-5-5": OPUS_5_5,
    "claude-fable-5": FABLE,
    "claude-fable-5-1": FABLE_5_1,
    "claude-mythos-5": FABLE,
}
_NAME = re.compile(r"claude-[a-z0-9.@-]+")


def traits(model: str) -> Traits:
    """The traits of a model, in any spelling of its name (`@date`, dots, a vendor before it)."""
    found = _NAME.search(model.lower())
    words = re.split(r"[.@-]", found[0])[:8] if found else []
    for length in range(len(words), 0, -1):
        known = MODELS.get("-".join(words[:length]))
        if known:
            following = words[length] if length < len(words) else ""
            return UNKNOWN if following.isdigit() and len(following) < 3 else known
    return UNKNOWN


class Block(Struct, frozen=True):
    """One content block. A content that is a plain string is one text block."""

    path: str
    type: str
    raw: Object

    @property
    def text(self) -> str:
        return text(self.raw.get("text"))


class Turn(Struct, frozen=True):
    path: str
    role: str
    blocks: list[Block]

    def of_type(self, *types: str) -> Iterator[Block]:
        return (block for block in self.blocks if block.type in types)

    def ids(self, type: str, key: str) -> list[str]:
        return [text(block.raw.get(key)) for block in self.of_type(type)]


class AnthropicRequest(Struct, frozen=True):
    body: Object
    traits: Traits
    turns: list[Turn]

    @property
    def speakers(self) -> list[Turn]:
        """The turns of user and assistant, without system messages."""
        return [turn for turn in self.turns if turn.role != "system"]

    @property
    def thinking(self) -> Object:
        return mapping(self.body.get("thinking"))

    @property
    def thinks_by_hand(self) -> bool:
        return self.thinking.get("type") == "enabled"

    def blocks(self, *types: str) -> Iterator[Block]:
        for turn in self.turns:
            yield from turn.of_type(*types)

    def all_blocks(self) -> Iterator[Block]:
        """Every block of every turn, and the blocks inside results."""
        for turn in self.turns:
            for block in turn.blocks:
                yield block
                if block.type == "tool_result" and not isinstance(block.raw.get("content"), str):
                    yield from _blocks_at(block.path, block.raw.get("content"))

    def server_blocks(self) -> Iterator[Block]:
        return (block for turn in self.turns for block in turn.blocks if is_server_tool(block))

    def tools(self) -> Iterator[tuple[str, Object]]:
        return ((f"tools.{place}", tool) for place, tool in objects(self.body.get("tools")))


Rule: TypeAlias = Callable[[AnthropicRequest], Iterator[Problem]]


def view_body(body: Mapping[str, Any], model: str = "") -> AnthropicRequest:
    body = mapping(body)
    return AnthropicRequest(
        body=body,
        traits=traits(model or text(body.get("model"))),
        turns=list(_turns(body.get("messages"))),
    )


def _turns(messages: Any) -> Iterator[Turn]:
    turn: Turn | None = None
    for place, message in objects(messages):
        role, path = text(message.get("role")), f"messages.{place}"
        blocks = list(_blocks_at(path, message.get("content")))
        if turn and turn.role == role:
            turn.blocks.extend(blocks)
            continue
        if turn:
            yield turn
        turn = Turn(path, role, blocks)
    if turn:
        yield turn


def _blocks_at(path: str, content: Any) -> Iterator[Block]:
    if isinstance(content, str):
        yield Block(f"{path}.content", "text", {"type": "text", "text": content})
    for place, block in objects(content):
        yield Block(f"{path}.content.{place}", text(block.get("type")), block)


def is_server_tool(block: Block) -> bool:
    """Whether the provider itself ran this."""
    return block.type in ("server_tool_use", "mcp_tool_use") or block.type.endswith("_tool_result")


def may_be_paused(turn: Turn) -> bool:
    """Whether the turn may be paused in server tools. A paused turn is sent back unchanged."""
    return any(map(is_server_tool, turn.blocks))
