"""When and where to cut a conversation that grows too long.

Two steps, the cheaper first: old tool outputs are shortened, then a summary replaces old
turns. A cut is always between turns, so a call and its result stay together. If the cut is
inside a tool loop, its prompt is kept; so are pinned turns. The log keeps
everything: `history.rewind` to the last turn undoes a compaction, and `history.fork` at any
turn has all that came before it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile
from typing import Literal

from msgspec import Struct

from ..errors import HookError, TurnoutError, UsageError
from ..history.cut_turn import cut_turn
from ..history.log import History
from ..model import Compaction, ModelTurn, SystemTurn, Turn, UserTurn, block_text
from ..targets.target import Target
from .context_size import CHARACTERS_PER_TOKEN, ContextSize, turn_size
from .events import Emit, Status
from .excerpt import excerpt, outcomes_of
from .recovery import Recovery

DIGEST = 8_000
"""Characters of a summary that is made without a model."""
INSTRUCTION = (
    "Summarise our conversation so far for someone who must continue it: what was asked, what was done and "
    "found (files, commands, results), what is decided and what is still open. Be complete and brief."
)


class CompressPolicy(Struct, frozen=True):
    """When to compress, and what to keep."""

    trigger: float = 0.8  # share of the context window
    keep_turns: int = 8  # recent turns that stay whole
    output: int = 2_000  # characters that remain of an old tool output
    strategy: Literal["prune", "truncate", "summarise"] = "summarise"
    automatic: bool = True
    target: str | None = None  # who writes the summary; None: the target of the next request


class Compressor:
    """Makes room in one session's history.

    `overhead` counts the characters of the system text and the tools. `ask_for_summary` puts
    `INSTRUCTION` to a model that has read the given history.
    """

    def __init__(
        self,
        history: History,
        policy: CompressPolicy,
        *,
        recovery: Recovery,
        overhead: Callable[[], int],
        ask_for_summary: Callable[[History], Awaitable[str]],
        debug: Callable[..., None],
    ) -> None:
        self.history = history
        self.policy = policy
        self._recovery = recovery
        self._size = ContextSize(history, overhead)
        self._ask_for_summary = ask_for_summary
        self._debug = debug

    # When

    def due(self, target: Target) -> bool:
        """Whether the next request would use more of this target's window than is wise."""
        if not self.policy.automatic or not self._is_over_trigger(target):
            return False
        return not self._is_just_compacted() or self._overflows(target)

    def _is_over_trigger(self, target: Target) -> bool:
        return self.used_tokens() > self.policy.trigger * target.facts.context

    def _overflows(self, target: Target) -> bool:
        """Whether it does not fit at all, for example after a switch to a smaller window."""
        return self.used_tokens() > target.facts.context

    def _is_just_compacted(self) -> bool:
        """Whether the last compaction is recent. Providers cache a prefix only if it stays the same."""
        left = max(self.policy.keep_turns // 2, 1)
        for entry in reversed(self.history.entries):
            if isinstance(entry, Compaction):
                return True
            left -= isinstance(entry, SystemTurn | UserTurn | ModelTurn)
            if not left:
                return False
        return False

    def used_tokens(self) -> int:
        """Tokens of the conversation: as the provider last counted, and an estimate of what came since."""
        return self._size.tokens

    def _tokens(self, turns: Sequence[Turn]) -> int:
        return sum(turn_size(self.history, turn) for turn in turns) // CHARACTERS_PER_TOKEN

    # Which turns stay

    def pin(self, turn_key: str) -> None:
        """Keep a turn whole through every compaction."""
        if turn_key not in {turn.key for turn in self.history.turns}:
            raise UsageError(f"turn {turn_key} is not visible; pin one of session.history.turns")
        self.history.note("pin", {"turn": turn_key})

    def unpin(self, turn_key: str) -> None:
        self.history.note("unpin", {"turn": turn_key})

    @property
    def pins(self) -> frozenset[str]:
        """Keys of the turns that the user pinned."""
        pinned: set[str] = set()
        for note in self.history.notes:
            match note.kind, note.data:
                case "pin", {"turn": str(key)}:
                    pinned.add(key)
                case "unpin", {"turn": str(key)}:
                    pinned.discard(key)
        return frozenset(pinned)

    # Making room

    async def compact(self, emit: Emit, target: Target | None = None) -> bool:
        """Make room; True if there is more of it now."""
        emit(Status("compressing", self.policy.strategy))
        return await self._shrink_history(self.policy.keep_turns, target)

    async def make_room(self, emit: Emit, target: Target) -> None:
        """Make room for the next request to this target; keep fewer turns whole where that is not enough."""
        await self.compact(emit, target)
        if self._overflows(target):
            await self.squeeze(emit, target)

    async def squeeze(self, emit: Emit, target: Target) -> bool:
        """The provider says that it is too long: leave half, and less each time."""
        emit(Status("compressing", self.policy.strategy, target.origin))
        return await self._shrink_history(self._turns_for_half(), None) or self._prune_outputs(0)

    def _turns_for_half(self) -> int:
        """How many recent turns may stay whole so that about half is gained."""
        keep, much = self.policy.keep_turns, self._tokens(self.history.turns) // 2
        while keep > 1 and self._tokens(self._turns_left(keep)) > much:
            keep //= 2
        return keep

    def _turns_left(self, keep: int) -> list[Turn]:
        """The turns after a cut: the recent ones, and the older ones that are kept."""
        turns = self.history.turns
        kept = set(self._keys_to_keep(turns[:-keep]))
        return [*(turn for turn in turns[:-keep] if turn.key in kept), *turns[-keep:]]

    async def _shrink_history(self, keep: int, target: Target | None) -> bool:
        pruned = self._prune_outputs(keep)
        if self.policy.strategy == "prune":
            return pruned
        if pruned and target is not None and not self._is_over_trigger(target):
            return True
        through = self._last_key_to_cut(keep)
        if not through:
            return pruned
        summarises = self.policy.strategy == "summarise"
        summary = await self._make_summary(through) if summarises else self.history.summary
        self._compact_through(through, summary)
        self._recovery.start_over()
        return True

    def digest(self) -> None:
        """Summarise all but the last turn without a model: the turns in short, in words."""
        turns = self.history.turns
        if len(turns) > 1:
            self._compact_through(turns[-2].key, self._digest_of(self._turns_through(turns[-2].key)))

    def _compact_through(self, through: str, summary: str) -> None:
        self.history.compact(through, summary, pinned=self._keys_to_keep(self._turns_through(through)))

    def _prune_outputs(self, keep: int) -> bool:
        history, limit = self.history, self.policy.output
        pins, shortened = self.pins, {}
        for turn in history.turns[: -keep or None]:
            for call_id, outcome in outcomes_of(history, [turn]).items() if turn.key not in pins else ():
                if call_id not in history.shortened_results and (left := len(outcome.text) - limit) > 0:
                    shortened[call_id] = f"{outcome.text[:limit]}\n[{left} more characters were left out]"
        if shortened:
            history.compact(shortened=shortened)
        return bool(shortened)

    def _last_key_to_cut(self, keep: int) -> str:
        """The turn through which to cut: everything but the recent turns; "" when there is too little."""
        turns = self.history.turns
        covered = turns[:-keep] if keep else ()
        if not covered or {turn.key for turn in covered} <= set(self._keys_to_keep(covered)):
            return ""
        return covered[-1].key

    def _turns_through(self, key: str) -> Sequence[Turn]:
        """The visible turns up to and including this one."""
        turns = self.history.turns
        return turns[: 1 + next(at for at, turn in enumerate(turns) if turn.key == key)]

    def _keys_to_keep(self, covered: Sequence[Turn]) -> tuple[str, ...]:
        """Keys to keep of the turns that are cut: pinned ones, and the prompt of the current tool loop."""
        kept = self.pins | self._open_prompt(covered)
        return tuple(turn.key for turn in covered if turn.key in kept)

    def _open_prompt(self, covered: Sequence[Turn]) -> frozenset[str]:
        """The last user turns, if the cut is inside the tool loop that they started."""
        after = [turn for turn in self.history.turns[len(covered) :] if not isinstance(turn, SystemTurn)]
        if not after or not isinstance(after[0], ModelTurn):
            return frozenset()
        users = [at for at, turn in enumerate(covered) if isinstance(turn, UserTurn)]
        back = reversed(covered[: users[-1] + 1]) if users else ()
        return frozenset(turn.key for turn in takewhile(lambda turn: isinstance(turn, UserTurn), back))

    # The summary

    async def _make_summary(self, through: str) -> str:
        """Ask a model for a summary. Its request is rendered like any other, so it is valid.

        The model reads an earlier summary too, so that goes into the next. If the text is too long
        for the model, the oldest turns are left out.
        """
        history = self.history
        turns = [cut_turn(turn)[0] for turn in self._turns_through(through)]
        key = f"{history.key}.summary.{len(history.entries)}"
        seen = excerpt(history, turns, history.summary, outcomes_of(history, turns), key)
        try:
            text = await self._ask_for_summary(seen)
        except TurnoutError as error:
            if isinstance(error, HookError) and not error.refused:
                raise  # a function of the user failed: the user must know
            self._debug("compress", message=f"no summary: {error}")
            return self._digest_of(turns)
        return text or self._digest_of(turns)

    def _digest_of(self, turns: Sequence[Turn]) -> str:
        """The turns in short, in words; the latest of them where not all fit."""
        lines: list[str] = []
        room = DIGEST
        for turn in reversed(turns):
            text = " ".join(block_text(block) for block in turn.blocks)[:400]
            lines.append(f"{type(turn).__name__.removesuffix('Turn').lower()}: {text}")
            room -= len(lines[-1])
            if room < 0:
                break
        earlier = [self.history.summary[:DIGEST]] if self.history.summary else []
        return "\n".join([*earlier, *reversed(lines)])
