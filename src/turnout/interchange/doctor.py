"""The faults of a session, their layer, what a resume does about them, and a repaired copy.

The three checkers that explain a refusal check the stored history for every family of providers.
Nothing is repaired in place: the repaired copy is written to a file that the user names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from .. import ids
from ..diagnostic import CODES, Diagnostic
from ..errors import StoreError, TurnoutError, UsageError
from ..history import check as history_check
from ..history.ingest import ingest
from ..history.ledger import ToolInteraction
from ..history.log import History
from ..history.state import SEALED
from ..model import (
    Compaction,
    Entry,
    ModelTurn,
    Note,
    Rewind,
    Settled,
    Started,
    SystemTurn,
    ToolCall,
    Turn,
    UserTurn,
)
from ..plain import loads, plain
from ..store.recover import history_of_stored, settle_interrupted
from ..store.store import Store
from ..targets.diagnose import diagnose
from ..wire.check.names import likely_api
from ..world.places import write_new
from .exports import from_jsonl, to_jsonl
from .foreign import PROGRAMS, SQLITE, ForeignSession, read_file
from .foreign.opencode import HOW_TO_EXPORT
from .unanswered import ReplayRefusal, replay_refusals, unanswered_calls

NEVER_ANSWERED = frozenset({"missing_result", "sealed_open_call"})
"""Diagnostics about calls that had no result in the file."""

GRAVE = frozenset({"unreadable_entry", "torn_tail", "missing_record"})
"""Diagnostics that mean loss."""

TARGETS = (
    "openai:gpt-5.2",
    "openai-responses:gpt-5.2",
    "anthropic:claude-sonnet-5",
    "gemini:gemini-3.8-flash",
    "mistral:mistral-large-latest",
    "kimi:kimi-k3",
    "deepseek:deepseek-reasoner",
)


class Finding(Struct, frozen=True):
    """One fault or remark. `grave`: a rule is broken."""

    layer: str  # store, history, render, wire
    code: str
    detail: str
    meaning: str = ""
    call_id: str = ""
    grave: bool = True


class Examination(Struct, frozen=True):
    """What the doctor found. `history` is as it is stored; `repaired` is valid."""

    findings: tuple[Finding, ...]
    resume: tuple[str, ...]
    history: History
    repaired: History
    title: str = ""
    unanswered: tuple[ToolInteraction, ...] = ()
    """Calls without a result."""
    refusals: tuple[ReplayRefusal, ...] = ()
    """What providers answer when the messages are sent with those calls unanswered."""
    command: str = ""
    """The command that resumes the session."""

    @property
    def is_well(self) -> bool:
        return not any(finding.grave for finding in self.findings)

    @property
    def layer(self) -> str:
        """The lowest layer with a fault; "" when there is none."""
        return next((finding.layer for finding in self.findings if finding.grave), "")


# Sources


def examine_session(store: Store, id: str) -> Examination:
    """Examine a session in the store, also one that is open. Nothing is written."""
    damage = [Finding("store", "damaged_file", text) for text in _damage_of(store)]
    stored = store.log.load(id)
    return _examine_history(
        history_of_stored(stored), f"turnout -r {id}", store.summary(id).title, damage, stored.draft
    )


def _damage_of(store: Store) -> Iterator[str]:
    try:
        yield from store.check()
    except StoreError as error:
        yield str(error)


def examine_file(path: Path, source: str = "") -> Examination:
    """Examine a file that turnout exported, or one of another program: `source`, or detected."""
    if source and source not in PROGRAMS:
        command = f"turnout render --from {source} --to PROVIDER:MODEL {quote(str(path))}"
        return _examine_history(ingest(_read_bytes(path), format=source, key=path.stem), command)
    try:
        found = from_jsonl(_read_bytes(path)) if not source else None
    except TurnoutError:
        found = None
    if found is not None:
        return _examine_history(found.history, _import_command("turnout", path), found.title)
    foreign, program = _best_foreign_reading(path, [source] if source else list(PROGRAMS))
    seen = Finding("history", "foreign", f"read as a session of {program}", grave=False)
    return _examine_history(foreign.history, _import_command(program, path), foreign.title, [seen])


def _import_command(program: str, path: Path) -> str:
    """The command that stores the session and opens it: the import prints its id."""
    return f"turnout -r $(turnout import {program} {quote(str(path))})"


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; check the path") from error


def _best_foreign_reading(path: Path, programs: list[str]) -> tuple[ForeignSession, str]:
    """The reading with the fewest notes, and its program."""
    readings = []
    for program in programs:
        try:
            found = read_file(program, path, path.stem)
        except TurnoutError:
            if len(programs) == 1:
                raise
            continue
        notes = sum(isinstance(entry, Note) for entry in found.history.entries)
        readings.append((notes, -len(found.history.turns), program, found))
    if not readings and _read_bytes(path).startswith(SQLITE):
        raise UsageError(
            f"{path} is a database, but not a log of llm; for a database of opencode use {HOW_TO_EXPORT}"
        )
    if not readings:
        raise UsageError(_not_a_session(path, programs))
    *_, program, found = min(readings, key=lambda one: one[:2])
    return found, program


def _not_a_session(path: Path, programs: list[str]) -> str:
    try:
        api = likely_api(loads(_read_bytes(path)))
    except (ValueError, RecursionError):
        api = ""
    if not api:
        return f"{path} is not a session of turnout or of {', '.join(programs)}; give a session file"
    command = f"turnout check --api {api} {quote(str(path))}"
    return f"{path} is a request, not a session; `{command}` lists what a provider would refuse in it"


# The examination


def _examine_history(
    history: History,
    command: str,
    title: str = "",
    noticed: Iterable[Finding] = (),
    draft: bytes | None = None,
) -> Examination:
    findings = [*noticed, *map(_finding_of, history.diagnostics)]
    faults = [_fault_finding(fault) for fault in history_check.violations(history)]
    repaired = repair_history(history) if faults else history
    findings += faults or _request_findings(repaired)
    calls = unanswered_calls(repaired, [each.call_id for each in findings if each.code in NEVER_ANSWERED])
    return Examination(
        tuple(findings),
        tuple(_resume_steps(repaired, draft, calls)),
        history,
        repaired,
        title,
        calls,
        replay_refusals(repaired, calls, TARGETS),
        command,
    )


def _finding_of(note: Diagnostic) -> Finding:
    return Finding(
        note.layer, note.code, note.detail, CODES.get(note.code, ""), note.call_id, note.code in GRAVE
    )


def _fault_finding(fault: Diagnostic) -> Finding:
    return Finding(fault.layer, fault.code, fault.detail, CODES.get(fault.code, ""), fault.call_id)


def _request_findings(history: History) -> Iterator[Finding]:
    """Faults of the requests that the history becomes: one finding a fault, with its targets."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for target in TARGETS if history.turns or history.summary else ():
        diagnosis = diagnose(history, target)
        for problem in diagnosis.problems:
            code = problem.code if isinstance(problem, Diagnostic) else problem.rule
            detail = problem.detail if isinstance(problem, Diagnostic) else problem.answer
            found.setdefault((diagnosis.layer or "wire", code, detail), []).append(target)
    for (layer, code, detail), targets in found.items():
        yield Finding(layer, code, f"{detail} ({', '.join(targets)})")


def _resume_steps(history: History, draft: bytes | None, calls: Iterable[ToolInteraction]) -> Iterator[str]:
    """What a resume of the session will do, as text."""
    trial = History.replay(history.entries, history.key, system=history.system, tools=history.tools)
    settle_interrupted(trial, draft)
    for note in trial.diagnostics:
        if note.code == "resumed_reply":
            yield f"the reply {note.detail} broke off: it is kept as far as it came"
        elif note.code == "resumed_call":
            yield f"{note.detail} ({note.call_id}) was running: answered as interrupted, not run again"
    for each in calls:
        if each.outcome is not None:
            yield f"{each.call.name} ({each.call.id}) never got a result: answered as interrupted"
    for waiting in trial.open_calls:
        named = f"{waiting.call.name} ({waiting.call.id})"
        yield f"{named} had not begun: the next prompt answers it as not run; session.go_on() runs it"
    if not trial.diagnostics and not trial.open_calls:
        yield "nothing is open: it resumes where it stopped"


# The repaired copy


def repair_history(history: History) -> History:
    """A copy of this history, written through the methods of `History`, which keep it valid.

    An entry that they refuse becomes a note with the reason.
    """
    made = History(history.key, system=history.system, tools=history.tools)
    made.scheduled = history.scheduled
    for entry in history.entries:
        try:
            _write_entry(made, entry)
        except (UsageError, KeyError, TypeError, AttributeError) as error:
            made.note("left_out", {"why": str(error), "entry": plain(entry)})
    return made


def _write_entry(made: History, entry: Entry) -> None:
    match entry:
        case SystemTurn() | UserTurn() | ModelTurn():
            made.append(_with_free_ids(made, entry))
        case Started(call_id, arguments):
            made.start(call_id, arguments)
        case Settled(call_id, outcome):
            made.settle(call_id, outcome)
        case Compaction():
            made.compact(entry.through_key, entry.summary, shortened=entry.shortened, pinned=entry.pinned)
        case Rewind(to_key):
            made.rewind(to_key)
        case Note(kind, _) if kind == SEALED:
            made.seal()
        case Note(kind, data):
            made.note(kind, data)


def _with_free_ids(made: History, turn: Turn) -> Turn:
    """The turn with an unused key, without calls whose ids are not canonical or are used already."""
    seen: set[str] = set()
    blocks = []
    for block in turn.blocks:
        if isinstance(block, ToolCall):
            usable = isinstance(turn, ModelTurn) and ids.is_canonical(block.id)
            if not usable or made.knows_call(block.id) or block.id in seen:
                made.note(
                    "left_out",
                    {
                        "why": "the id of this call is used already, or is not canonical",
                        "entry": plain(block),
                    },
                )
                continue
            seen.add(block.id)
        blocks.append(block)
    key = turn.key if turn.key and "|" not in turn.key and not made.knows_key(turn.key) else made.next_key()
    return replace(turn, key=key, blocks=tuple(blocks))


def write_copy(examination: Examination, path: Path) -> None:
    """Write the repaired session as JSON lines; raises when the file exists."""
    write_new(path, to_jsonl(examination.repaired, examination.title))
