"""Our state on its way to a client and back: what a reply's fields carry, and the turn that it was.

`ReplyCarrier` watches the events of one reply. It seals what the protocol makes the client echo, and says
in the end what could not be carried. `IssuedState` reads a client's messages: a token that we sealed
gives a reply its origin and private state again, a state that was remembered gives all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ... import ids
from ...model import Block, ModelTurn, Origin, Residue, Scope, Text, Thinking, ToolCall, with_fields
from .sealing import HiddenThinking, SealedState, Sealer, is_token

ECHOED: dict[str, tuple[type, ...]] = {
    "anthropic": (Thinking,),
    "responses": (Thinking,),
    "gemini": (ToolCall, Text),
    "chat": (),
}
"""The blocks that have a field which clients of a protocol send back. Gemini's clients leave out thoughts."""

ITEM_IDS = ("id", "item_id")
_OWN_ITEM = re.compile(r"[a-z]{2,4}_[A-Za-z0-9_-]{24}")


class BlockState(Struct, frozen=True, array_like=True, omit_defaults=True):
    """One block of a reply without its content: `kind` t(hinking), s(aid), c(all)."""

    kind: str
    text: str = ""  # of thinking; the id of a call
    size: int = 0  # of a text
    data: Any = None
    scope: Scope = "model"
    raw_id: str = ""


class TurnState(Struct, frozen=True, array_like=True):
    """A reply without what the client sends back itself."""

    provider: str
    endpoint: str
    model: str
    blocks: tuple[BlockState, ...] = ()

    @property
    def origin(self) -> Origin:
        return Origin(self.provider, self.endpoint, self.model)


_encode_state = msgspec.msgpack.Encoder().encode
_decode_state = msgspec.msgpack.Decoder(TurnState).decode


class ReplyCarrier:
    """Seals the state of one reply as it is written. `origin` is who answers, once that is known."""

    def __init__(self, protocol: str, sealer: Sealer) -> None:
        self._echoed = ECHOED[protocol]
        self._sealer = sealer
        self.origin: Origin | None = None
        self._before: list[HiddenThinking] = []
        self._carried = 0  # blocks whose state is in a token
        self._signed = False  # a call of this reply has a token: Gemini's clients send back the first alone

    def carry(self, block: Block) -> str | None:
        """The token for a block, or None where there is nothing to carry."""
        residue, origin = block.residue, self.origin
        if origin is None:
            return None
        if not isinstance(block, self._echoed):
            if isinstance(block, Thinking):
                self._before.append(HiddenThinking(block.text, residue.data if residue else None))
            return None
        if isinstance(block, ToolCall):
            if self._signed:
                return None
            self._signed = True
        if residue is None and not self._before and not isinstance(block, Thinking):
            return None
        sealed = residue or Residue(origin)
        before, self._before = tuple(self._before), []
        self._carried += len(before) + (residue is not None or isinstance(block, Thinking))
        place = (origin.provider, origin.endpoint, origin.model)
        return self._sealer.seal(SealedState(*place, sealed.data, sealed.scope, before))

    def left_over(self, turn: ModelTurn) -> TurnState | None:
        """The state of a finished reply, where its client does not carry all of it."""
        private = [block for block in turn.blocks if block.residue is not None or isinstance(block, Thinking)]
        if len(private) <= self._carried:
            return None
        return state_of(turn)


def state_of(turn: ModelTurn) -> TurnState:
    origin = turn.origin
    blocks = tuple(each for block in turn.blocks if (each := _block_state(block)) is not None)
    return TurnState(origin.provider, origin.endpoint, origin.model, blocks)


def _block_state(block: Block) -> BlockState | None:
    held = block.residue or Residue(Origin(""))
    data, scope = held.data, held.scope
    match block:
        case Thinking(text):
            return BlockState("t", text, data=data, scope=scope)
        case Text(text):
            return BlockState("s", size=len(text), data=data, scope=scope)
        case ToolCall():
            return BlockState("c", block.id, data=data, scope=scope, raw_id=block.raw_id)
        case _:
            return None


def pack_state(state: TurnState) -> bytes:
    return _encode_state(state)


def fingerprint(turn: ModelTurn) -> str:
    """What names a reply in its conversation when a client sends it back: its calls, or else its words."""
    calls = sorted(call.id for call in turn.tool_calls)
    words = calls or [turn.text.strip(), turn.key]  # the same words may be said twice
    return sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32] if words[0] else ""


class IssuedState:
    """What comes back in one request. `recall` gives the remembered state of a reply by its fingerprint."""

    def __init__(self, sealer: Sealer, recall: Callable[[str], bytes | None]) -> None:
        self._sealer = sealer
        self._recall = recall
        self.forged = 0

    def canonical_id(self, raw_id: str) -> str:
        return ids.canonical_of(raw_id)

    def restored_turn(self, turn: ModelTurn) -> ModelTurn:
        name = fingerprint(turn)
        packed = self._recall(name) if name else None
        if packed is not None and (state := _read_state(packed)) is not None:
            return _merged_turn(turn, state)
        return self._opened_turn(turn)

    def _opened_turn(self, turn: ModelTurn) -> ModelTurn:
        """The turn with the state of its tokens; where it has none, only what we added is taken out."""
        if all(block.residue is None for block in turn.blocks):
            return turn
        origin, blocks = turn.origin, []
        for block in turn.blocks:
            token = token_in(block.residue)
            if not token:
                blocks.append(_without_own_item(block))
                continue
            state = self._sealer.open(token)
            if state is None:
                self.forged += 1
                blocks.append(with_fields(block, residue=None))
                continue
            origin = state.origin
            blocks += [_hidden_block(each, origin) for each in state.before]
            blocks.append(with_fields(block, residue=state.residue))
        return replace(turn, origin=origin, blocks=tuple(blocks))


def token_in(residue: Residue | None) -> str:
    """The token among the private state that a client sent back, in any of the fields that hold one."""
    if residue is None or not isinstance(residue.data, Mapping):
        return ""
    for value in residue.data.values():
        if is_token(value):
            return str(value)
        if isinstance(value, Mapping):
            for inner in value.values():
                if is_token(inner):
                    return str(inner)
    return ""


def _hidden_block(hidden: HiddenThinking, origin: Origin) -> Thinking:
    return Thinking(hidden.text, None if hidden.data is None else Residue(origin, hidden.data))


def _without_own_item(block: Block) -> Block:
    """Without the ids of items that we made up: the provider has never seen them."""
    residue = block.residue
    if residue is None or not isinstance(residue.data, Mapping):
        return block
    own = [name for name in ITEM_IDS if is_own_item(residue.data.get(name))]
    if not own:
        return block
    kept = {name: value for name, value in residue.data.items() if name not in own}
    return with_fields(block, residue=replace(residue, data=kept) if kept else None)


def is_own_item(value: Any) -> bool:
    """Whether an id of an item is one that our encoder made: a prefix, and a hash of ours."""
    return isinstance(value, str) and _OWN_ITEM.fullmatch(value) is not None


def _read_state(packed: bytes) -> TurnState | None:
    try:
        return _decode_state(packed)
    except msgspec.MsgspecError:
        return None


def _merged_turn(turn: ModelTurn, state: TurnState) -> ModelTurn:
    """The reply as it was: the client's words and calls, in their old places, with their private state."""
    calls = {call.id: call for call in turn.tool_calls}
    texts = turn.text
    blocks: list[Block] = []
    for each in state.blocks:
        residue = None if each.data is None else Residue(state.origin, each.data, each.scope)
        if each.kind == "t":
            blocks.append(Thinking(each.text, residue))
        elif each.kind == "s" and texts[: each.size]:
            blocks.append(Text(texts[: each.size], residue))
            texts = texts[each.size :]
        elif each.kind == "c" and (call := calls.pop(each.text, None)) is not None:
            blocks.append(with_fields(call, residue=residue, raw_id=each.raw_id or call.raw_id))
    if texts:
        blocks.append(Text(texts))
    others = (block for block in turn.blocks if not isinstance(block, Text | Thinking | ToolCall))
    blocks += [*calls.values(), *others]
    return replace(turn, origin=state.origin, blocks=tuple(blocks))
