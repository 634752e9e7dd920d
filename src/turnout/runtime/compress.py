"""When and where to cut a conversation that grows too long.

Two moves, the cheaper first: old tool outputs are shortened, then old turns give way to a
summary. A cut falls only between turns, so a call and its result are never parted; the
prompt of a tool loop that is cut in two is kept. The log keeps everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ..errors import TurnoutError
from ..model import ModelTurn, Turn, UserTurn, block_text
from ..providers import Target
from .events import SessionEvent, Status

if TYPE_CHECKING:
    from .session import Session

Emit = Callable[[SessionEvent], None]

CHARACTERS_PER_TOKEN = 4
INSTRUCTION = (
    "Summarise our conversation so far for someone who must go on with it: what was asked, what was done and "
    "found (files, commands, results), what is decided and what is still open. Be complete and brief."
)


class CompressPolicy(Struct, frozen=True):
    """When to compress, and what to keep."""

    trigger: float = 0.8  # share of the context window
    keep_turns: int = 8  # recent turns that stay whole
    output: int = 2_000  # characters that remain of an old tool output
    strategy: Literal["prune", "truncate", "summarise"] = "summarise"
    automatic: bool = True
    target: str | None = None  # who writes the summary; None: whoever is asked next


class Compressor:
    """Makes room in one session's history."""

    def __init__(self, session: Session, policy: CompressPolicy) -> None:
        self.session = session
        self.policy = policy

    def due(self, target: Target) -> bool:
        """Whether the next request would use more of the window than is wise."""
        return self.policy.automatic and self.used() > self.policy.trigger * target.facts.context

    def used(self) -> int:
        """Tokens of the conversation: as the provider last counted, and an estimate of what came since."""
        history = self.session.history
        counted, since = 0, 0
        for turn in reversed(history.turns):
            if isinstance(turn, ModelTurn) and turn.usage is not None and turn.usage.input:
                counted = turn.usage.input + (turn.usage.output or 0)
                since += self._outputs(turn)
                break
            since += size(turn) + self._outputs(turn)
        return counted + since // CHARACTERS_PER_TOKEN

    def _outputs(self, turn: Turn) -> int:
        if not isinstance(turn, ModelTurn):
            return 0
        history = self.session.history
        outcomes = [history.ledger[call.id].outcome for call in turn.tool_calls]
        return sum(len(outcome.text) for outcome in outcomes if outcome is not None)

    async def compact(self, emit: Emit, target: Target | None = None) -> bool:
        """Make room; True if there is more of it now."""
        emit(Status("compressing", self.policy.strategy))
        pruned = self._prune()
        if self.policy.strategy == "prune":
            return pruned
        if pruned and target is not None and not self.due(target):
            return True
        through = self._cut()
        if not through:
            return pruned
        summary = await self._summary(through) if self.policy.strategy == "summarise" else ""
        self._apply(through, summary)
        self.session.recovery.start_over()
        return True

    def digest(self) -> None:
        """A summary without a model: what was said before the last turn, in short, in words."""
        turns = self.session.history.turns
        if len(turns) > 1:
            self._apply(turns[-2].key, self._told(turns[-2].key))

    def _apply(self, through: str, summary: str) -> None:
        history = self.session.history
        history.compact(through, summary, pinned=self._pinned(through))

    def _prune(self) -> bool:
        history, limit = self.session.history, self.policy.output
        shortened: dict[str, str] = {}
        for turn in history.turns[: -self.policy.keep_turns or None]:
            for call in turn.tool_calls if isinstance(turn, ModelTurn) else ():
                outcome = history.ledger[call.id].outcome
                if call.id in history.shortened or outcome is None or len(outcome.text) <= limit:
                    continue
                left = len(outcome.text) - limit
                shortened[call.id] = f"{outcome.text[:limit]}\n[{left} more characters were left out]"
        if shortened:
            history.compact(shortened=shortened)
        return bool(shortened)

    def _cut(self) -> str:
        """The turn through which to cut: everything but the recent turns; "" when there is too little."""
        turns = self.session.history.turns
        at = len(turns) - self.policy.keep_turns
        return turns[at - 1].key if at > 0 else ""

    def _pinned(self, through: str) -> tuple[str, ...]:
        """The prompt that is still being worked on, when the cut falls into its tool loop."""
        turns = list(self.session.history.turns)
        at = next(at for at, turn in enumerate(turns) if turn.key == through)
        if at + 1 < len(turns) and isinstance(turns[at + 1], ModelTurn):
            prompts = [turn.key for turn in turns[: at + 1] if isinstance(turn, UserTurn)]
            return tuple(prompts[-1:])
        return ()

    async def _summary(self, through: str) -> str:
        """Ask a model; its own request is made by the same renderer, so it is valid too."""
        session = self.session
        fork = session.history.fork(
            f"{session.history.key}.summary.{len(session.history.entries)}", at=through
        )
        try:
            child = session.child(history=fork, target=self.policy.target)
            answer = await child.ask(INSTRUCTION, tool_choice="none")
        except TurnoutError as error:
            session.debug("compress", message=f"no summary: {error}")
            return self._told(through)
        session.turns.append(answer.turn)
        return answer.text or self._told(through)

    def _told(self, through: str) -> str:
        lines: list[str] = [self.session.history.summary] if self.session.history.summary else []
        for turn in self.session.history.turns:
            said = " ".join(block_text(block) for block in turn.blocks)[:400]
            lines.append(f"{type(turn).__name__.removesuffix('Turn').lower()}: {said}")
            if turn.key == through:
                break
        return "\n".join(lines)


def size(turn: Turn) -> int:
    """Characters of a turn, without the results of its calls."""
    return sum(len(block_text(block)) for block in turn.blocks)
