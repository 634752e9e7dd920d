"""Find out how to speak to an unknown server, with a bounded number of small requests.

A machine without IO: it gives one request, is told the answer, and gives the next. It renders
small conversations as a session would. Where the server refuses one, it changes one field of the
dialect and asks again. What helped is kept; what nothing helped is named as uncertain.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..errors import ProviderError, StreamError, UsageError
from ..history.ingest import ingest
from ..model import ModelTurn, Origin, Thinking, Usage
from ..providers.prices import Price, price
from ..wire.failure.read_failure import failure
from ..wire.request import WireRequest
from .probe_trials import HELLO, ROUND_TRIP, TRIALS, Changes, Trial
from .reply import decode
from .request import render
from .target import Target, find_target

MOST_REQUESTS = 60
SHORT = 64
DEAR = Price(15, 75)  # assumed where the price of the model is not known: rather too much than too little
HOMES = {
    "chat": "compatible",
    "responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama",
    "cohere": "cohere",
    "converse": "bedrock",
}
"""The provider whose address, key header and dialect a protocol begins with."""
MISSING = (404, 405, 501)
LOCKED = (401, 403)
BUSY = (429, 502, 503, 504)


class ProbeRequest(Struct, frozen=True):
    """One request, to be told before it is sent."""

    number: int
    what: str
    request: WireRequest
    target: Target


class ProbeAnswer(Struct, frozen=True):
    """What came back; status 0 where there was no answer at all."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_accepted(self) -> bool:
        return 200 <= self.status < 300

    @property
    def words(self) -> str:
        """Why it was refused, in the server's words."""
        return failure(self.status, self.headers, self.body).message


ACCEPTED = ProbeAnswer(200, {}, b"")


class ProbeFinding(Struct, frozen=True):
    """What is known of the server in the end; no target where no protocol was spoken."""

    target: Target | None
    changes: Changes  # fields of the dialect that differ from the usual ones
    learned: tuple[str, ...]
    uncertain: tuple[str, ...]
    requests: int


Steps: TypeAlias = Generator[ProbeRequest, ProbeAnswer, Any]


class ServerProbe:
    """Ask for the next request, tell it the answer, until there is none."""

    def __init__(
        self,
        base_url: str,
        model: str,
        name: str,
        *,
        most: int = MOST_REQUESTS,
        max_cost: float | None = None,
    ) -> None:
        self.max_cost = max_cost
        self.spent = 0.0
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.name = name
        self.most = min(most, MOST_REQUESTS)
        self.sent = 0
        self.learned: list[str] = []
        self.uncertain: list[str] = []
        self._place: Target | None = None
        self._start: Target | None = None
        self._refused: dict[tuple[str, bytes], ProbeAnswer] = {}
        self._accepted: set[tuple[str, bytes]] = set()
        self._turn: ModelTurn | None = None
        self._shape = ""
        self._steps = self._explore()
        self._waiting: ProbeRequest | None = next(self._steps, None)

    def next_request(self) -> ProbeRequest | None:
        """The request to send now; None when the probe is over."""
        return self._waiting

    def read_answer(self, answer: ProbeAnswer) -> None:
        """Learn from the answer to the request that was given last."""
        self.sent += 1
        asked, self._waiting = self._waiting, None
        if asked is not None and answer.is_accepted:
            self.spent += _cost_of(asked, answer)
        if self.sent >= self.most:
            self.stop(f"{self.sent} requests were sent, which is the limit")
            return
        if self.max_cost is not None and self.spent >= self.max_cost:
            self.stop(f"about ${self.spent:.4f} was spent, which is the limit")
            return
        try:
            self._waiting = self._steps.send(answer)
        except StopIteration:
            self._waiting = None

    def stop(self, why: str) -> None:
        """Send nothing more."""
        self._waiting = None
        self.uncertain.append(f"the rest: {why}")

    @property
    def findings(self) -> ProbeFinding:
        changes = dict(_differences(self._start, self._place)) if self._place and self._start else {}
        return ProbeFinding(self._place, changes, tuple(self.learned), tuple(self.uncertain), self.sent)

    # The course of a probe

    def _explore(self) -> Steps:
        yield from self._find_protocol()
        if self._place is None:
            return
        for trial in TRIALS:
            yield from self._settle_trial(trial)
        yield from self._send_own_thinking()
        yield from self._send_unknown_field()
        yield from self._confirm_trials()

    def _find_protocol(self) -> Steps:
        """The first protocol in which a call with its result is accepted."""
        words: Target | None = None
        for place in self._candidates():
            self._place = self._start = place
            if not (yield from self._settle_trial(HELLO, names_doubt=False)):
                continue
            if (yield from self._settle_trial(ROUND_TRIP, names_doubt=False)):
                self.learned.append(f"speaks {place.api} at {place.provider.base_url}")
                return
            words = words or self._place
        self._place = self._start = words
        if words is not None:
            self.uncertain.append("tools: no form of a call with its result was accepted")

    def _candidates(self) -> Iterator[Target]:
        bases = [self.base_url] if self.base_url.endswith("/v1") else [self.base_url, f"{self.base_url}/v1"]
        for base in bases:
            yield self._target("chat", base)
        yield self._target("anthropic", self.base_url)
        for base in dict.fromkeys((self.base_url, self.base_url.removesuffix("/v1") + "/v1beta")):
            yield self._target("gemini", base)
        yield self._target("responses", self.base_url)
        host = self.base_url.removesuffix("/v1")  # these have their version in the path, or none
        for api in ("ollama", "cohere", "converse"):
            yield self._target(api, host)

    def _target(self, api: str, base: str) -> Target:
        return find_target(Origin(HOMES[api], self.name, self.model), base_url=base)

    # One trial

    def _settle_trial(self, trial: Trial, *, names_doubt: bool = True) -> Generator[Any, Any, bool]:
        """Whether the trial is accepted, with the dialect as it is or with one more change."""
        assert self._place is not None
        answer = yield from self._send_trial(trial, self._place)
        if answer is None or answer.is_accepted:
            return True
        if answer.status in MISSING or answer.status in LOCKED or answer.status == 0:
            self._note_closed_door(answer)
            return False
        why = answer.words
        if answer.status in BUSY:
            self.uncertain.append(f"{trial.name}: the server was busy ({why[:120]})")
            return False
        for changes in trial.fixes:
            if (changed := _with_changes(self._place, changes)) is None:
                continue
            answer = yield from self._send_trial(trial, changed)
            if answer is not None and answer.is_accepted:
                self._place = changed
                fields = ", ".join(f"{name} = {value!r}" for name, value in changes.items())
                self.learned.append(f"{trial.name}: refused ({why[:120]}); accepted with {fields}")
                return True
        if trial.otherwise and (changed := _with_changes(self._place, trial.otherwise)) is not None:
            self._place = changed
            self.learned.append(f"{trial.name}: {trial.what} is refused ({why[:120]}), and not asked for")
        elif names_doubt:
            self.uncertain.append(f"{trial.name}: {trial.what} is refused ({why[:160]})")
        return False

    def _send_trial(self, trial: Trial, place: Target) -> Generator[Any, Any, ProbeAnswer | None]:
        """The answer, known where the same bytes were sent before; None where it cannot be written."""
        history = ingest(list(trial.messages), "openai-chat", key="probe")
        try:
            request = render(history, place, tools=list(trial.tools), max_tokens=SHORT, **trial.options)
        except UsageError:  # the model cannot be asked for this, and turnout would not
            return None
        sent = (request.url, request.body)
        if sent in self._accepted:  # the same bytes are never sent twice
            return ACCEPTED
        if sent in self._refused:
            return self._refused[sent]
        answer: ProbeAnswer = yield ProbeRequest(self.sent + 1, trial.what, request, place)
        if answer.is_accepted:
            self._accepted.add(sent)
            self._read_reply(place, answer)
        elif answer.status not in BUSY:
            self._refused[sent] = answer
            self._note_shape(answer)
        return answer

    def _read_reply(self, place: Target, answer: ProbeAnswer) -> None:
        try:
            turn = decode(place, answer.body)
        except (ProviderError, StreamError) as error:
            self.uncertain.append(f"a reply could not be read: {error}")
            return
        if any(isinstance(block, Thinking) for block in turn.blocks):
            self._turn = turn
        elif self._turn is None or not self._turn.thinking:
            self._turn = self._turn or turn

    def _note_shape(self, answer: ProbeAnswer) -> None:
        """How the server writes its refusals."""
        if self._shape:
            return
        try:
            body = msgspec.json.decode(answer.body)
        except ValueError:
            body = None
        keys = ", ".join(sorted(body)) if isinstance(body, dict) else "not a JSON object"
        self._shape = keys
        self.learned.append(f"refuses with status {answer.status} and a body of: {keys}")

    def _note_closed_door(self, answer: ProbeAnswer) -> None:
        if answer.status in LOCKED:
            self.uncertain.append(f"the key: status {answer.status} ({answer.words[:120]})")

    # Thinking, unknown fields, and a last look

    def _send_own_thinking(self) -> Steps:
        """What the server thought goes back to it, in the field that it came in."""
        place, turn = self._place, self._turn
        assert place is not None
        if turn is None or not turn.thinking or place.api != "chat":
            return
        thought = next(block for block in turn.blocks if isinstance(block, Thinking))
        data = thought.residue.data if thought.residue is not None else None
        named = data.get("field") if isinstance(data, dict) else ""
        if not named or place.dialect.reasoning_field == named:  # type: ignore[attr-defined]
            return
        changed = _with_changes(place, {"reasoning_field": named})
        if changed is None:
            return
        trial = Trial(name="own thinking", what=f"its own thinking in {named}", messages=())
        history = ingest([{"role": "user", "content": "Say hi."}], "openai-chat", key="probe")
        history.reply(changed.origin, turn.blocks)
        history.user("Again.")
        request = render(history, changed, max_tokens=SHORT)
        answer = yield ProbeRequest(self.sent + 1, trial.what, request, changed)
        if answer.is_accepted:
            self._place = changed
            self.learned.append(f"thinking: comes in {named}, and goes back there")
        else:
            self.learned.append(f"thinking: comes in {named}; it is refused when it goes back")

    def _send_unknown_field(self) -> Steps:
        """Whether a field that the server does not know is refused."""
        place = self._place
        assert place is not None
        if place.api != "chat":
            return
        history = ingest([{"role": "user", "content": "Say hi."}], "openai-chat", key="probe")
        request = render(history, place, max_tokens=SHORT, extra={"turnout_probe": 1})
        answer = yield ProbeRequest(self.sent + 1, "a field that no server knows", request, place)
        if not answer.is_accepted and answer.status not in BUSY:
            self._place = _with_changes(place, {"refuses_unknown": True}) or place
            self.learned.append("a field that it does not know is refused")

    def _confirm_trials(self) -> Steps:
        """A later change may break what was accepted before: the tool trials are sent once more."""
        for trial in TRIALS:
            if trial.tools and self._place is not None:
                yield from self._settle_trial(trial, names_doubt=False)


def _with_changes(place: Target, changes: Changes) -> Target | None:
    """The target with these fields of its dialect changed; None where the dialect has none of them."""
    own = {name: value for name, value in changes.items() if name in place.dialect.__struct_fields__}
    if not own or all(getattr(place.dialect, name) == value for name, value in own.items()):
        return None
    return replace(place, dialect=replace(place.dialect, **own))


def _differences(start: Target, place: Target) -> Iterator[tuple[str, Any]]:
    for name in place.dialect.__struct_fields__:
        value = getattr(place.dialect, name)
        if value != getattr(start.dialect, name):
            yield name, value


def _cost_of(asked: ProbeRequest, answer: ProbeAnswer) -> float:
    """Dollars for one request, by the length of both bodies: four characters a token, rather more."""
    known = price(asked.target.origin) or DEAR
    return known.of(Usage(input=len(asked.request.body) // 3, output=min(len(answer.body) // 3, SHORT)))
