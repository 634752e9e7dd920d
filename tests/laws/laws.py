"""What holds after every step of every conversation, for every target."""

from __future__ import annotations

import re
from collections import Counter

from tests.laws.generate import SYSTEM, TOOLS, World
from tests.laws.share import SOAK
from tests.laws.targets import TARGETS

from turnout.history import check as history_check
from turnout.history.ledger import is_real
from turnout.history.log import History
from turnout.ids import IdProjection
from turnout.model import Message, ModelTurn
from turnout.rendering import check as render_check
from turnout.rendering.policy import Reader
from turnout.rendering.transcript import Transcript
from turnout.targets.request import reader

FORMS = {
    "openai": re.compile(r"call_[A-Za-z0-9_-]{1,35}"),  # 40 characters is all that Chat takes
    "anthropic": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "mistral": re.compile(r"[A-Za-z0-9]{9}"),
    "kimi": re.compile(r"functions\.[A-Za-z0-9_-]{1,64}:\d+"),
    "gemini": re.compile(r".{1,256}", re.DOTALL),
    "bedrock": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "cohere": re.compile(r"call_[A-Za-z0-9_-]{1,35}"),
}


READERS: list[Reader] = [
    *(reader(place) for place in TARGETS),
    *(reader(place, "as_text") for place in TARGETS[:4:3]),
]

WHOLES = 1 if SOAK else 4
"""At each step every target is compared with a render of the whole in a soak, else each fourth in turn."""


class Witness:
    """Watches one world: keeps each target's transcript and what it must never change."""

    def __init__(self) -> None:
        self.codes: Counter[str] = Counter()
        self._history: History | None = None
        self._transcripts: list[Transcript] = []
        self._sealed: list[list[Message]] = []
        self._generation = 0
        self._step = 0

    def __call__(self, world: World, kind: str) -> None:
        history = world.history
        assert history_check.violations(history) == []
        again = replayed(history)
        same_state(history, again)
        self._follow(history)
        for transcript, before in zip(self._transcripts, self._sealed, strict=True):
            transcript.update()
            assert transcript.sealed[: len(before)] == before, "what was sealed has changed"
        self._judge()
        self._compare(again, WHOLES)
        self._remember(history)
        for parent, entries in world.parents:
            assert parent.entries == entries, "a fork wrote to its parent"

    def _follow(self, history: History) -> None:
        """Another history, or another generation of this one, has transcripts of its own."""
        if history is not self._history:
            self._transcripts = [Transcript(history, each) for each in READERS]
        if history is not self._history or history.generation != self._generation:
            self._sealed = [[] for _ in READERS]

    def _remember(self, history: History) -> None:
        self._history, self._generation = history, history.generation
        self._sealed = [list(transcript.sealed) for transcript in self._transcripts]

    def _judge(self) -> None:
        judged: list[tuple[Message, ...]] = []
        for transcript in self._transcripts:
            messages = transcript.messages
            ids_hold(transcript.ids, transcript.reader, messages)
            if messages not in judged or _has_residue(messages):
                assert render_check.violations(messages, transcript.reader.origin) == []
                judged.append(messages)

    def _compare(self, again: History, every: int) -> None:
        """Rendered turn by turn is rendered as a whole."""
        self._step += 1
        for transcript in self._transcripts[self._step % every :: every]:
            whole = Transcript(again, transcript.reader)
            assert whole.messages == transcript.messages
            assert whole.ids.as_dict() == transcript.ids.as_dict()

    def tally(self) -> None:
        """At the end of a conversation: count what the transcripts say of themselves."""
        if self._history is not None:
            self._compare(replayed(self._history), 1)
        for transcript in self._transcripts:
            report = transcript.report
            self.codes.update(item.code for item in report.diagnostics)
            assert [item.projected for item in report.calls] == [item.projected for item in report.results]
            assert [item.call_id for item in report.calls] == list(report.seen)


def _has_residue(messages: tuple[Message, ...]) -> bool:
    return any(m.residue or any(getattr(b, "residue", None) for b in m.blocks) for m in messages)


def replayed(history: History) -> History:
    return History.replay(list(history.entries), history.key, system=SYSTEM, tools=TOOLS)


def same_state(history: History, again: History) -> None:
    """A replayed log gives the same state.

    One thing may differ: a turn that was sealed while all its outcomes were real leaves no
    mark in the log, because nothing could change it any more; replayed, it counts as open.
    """
    assert list(again.turns) == list(history.turns)
    assert again.ledger == history.ledger
    assert again.summary == history.summary and again.shortened_results == history.shortened_results
    assert again.generation == history.generation and again.scheduled == history.scheduled
    assert again._state.keys.keys() == history._state.keys.keys()
    assert again._state.undone_calls == history._state.undone_calls
    assert again.standing == history.standing
    if again.open_turn != history.open_turn:
        assert history.open_turn is None and _is_settled(again, again.open_turn)


def _is_settled(history: History, turn: ModelTurn | None) -> bool:
    items = history.ledger.of_turn(turn) if turn is not None else ()
    return all(item.outcome is not None and is_real(item.outcome) for item in items)


def ids_hold(ids: IdProjection, chosen: Reader, messages: tuple[Message, ...]) -> None:
    """Outward ids are injective and of the target's form; Kimi's count through the conversation."""
    projected = ids.as_dict()
    assert len(set(projected.values())) == len(projected)
    form = FORMS[chosen.id_format]
    assert all(form.fullmatch(outward) for outward in projected.values())
    called = [call.id for message in messages for call in message.tool_calls]
    assert list(projected) == called
    if chosen.id_format == "kimi":
        assert [outward.rpartition(":")[2] for outward in projected.values()] == [
            str(number) for number in range(len(called))
        ]
