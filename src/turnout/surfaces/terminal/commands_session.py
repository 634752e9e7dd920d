"""Slash commands for the session: a new one, another one, a copy, compaction, export and copy."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...model import ModelTurn
from ...world.places import write_new, write_private
from ..shared.clean_text import one_line, printable
from .clipboard import copy_with_program, is_remote
from .picker import PickRow
from .pieces import Notice

if TYPE_CHECKING:
    from .talk import Talk

LISTED = 200
"""Sessions that the list holds."""


# Which session


def start_new_session(talk: Talk, rest: str) -> None:
    async def open_new() -> None:
        await talk.go_to(model=str(talk.session.target.origin))
        talk.edge.show(Notice(f"Started session {talk.session.id}."))

    talk.begin(open_new())


def session_ids(talk: Talk) -> Iterable[str]:
    store = talk.opener.store
    return [line.id for line in store.list(limit=50)] if store is not None else []


def resume_session(talk: Talk, given: str) -> None:
    if not given:
        talk.begin(pick_session(talk), quiet=True)
        return
    id = talk.opener.find_session(given)
    if id == talk.session.id:
        raise UsageError(f"{id} is this session; choose another one")

    talk.begin(_open_stored(talk, id))


async def pick_session(talk: Talk, fork: bool = False) -> None:
    """The list of stored sessions; the one that the user picks is opened, or a copy of it."""
    lines = [line for line in talk.opener.required_store.list(limit=LISTED) if line.id != talk.session.id]
    if not lines:
        talk.edge.show(Notice("There is no other session yet."))
        return
    rows = [
        PickRow(
            one_line(line.title, 60) or "(no title)",
            f"{_ago(line.updated)} · {line.turns} turns · {line.model or 'no model'} · {line.id}",
        )
        for line in lines
    ]
    chosen = await talk.edge.pick("Sessions, the latest first: type to search", rows)
    if chosen is not None:
        await _open_stored(talk, talk.opener.copy(lines[chosen].id) if fork else lines[chosen].id)


async def _open_stored(talk: Talk, id: str) -> None:
    await talk.go_to(id)
    talk.recall()
    talk.edge.show(Notice(f"Resumed {id}; {talk.session.target.origin} answers."))


def fork_session(talk: Talk, rest: str) -> None:
    model = str(talk.session.target.origin)

    async def open_copy() -> None:
        copied = talk.opener.copy(talk.session.id)
        await talk.go_to(copied, model)
        talk.edge.show(Notice(f"Continuing in a copy, {copied}; the earlier session is unchanged."))

    talk.begin(open_copy())


def compact_history(talk: Talk, rest: str) -> None:
    async def compact_now() -> None:
        done = await talk.session.compact(talk.take)
        talk.edge.show(Notice("Compacted." if done else "There is nothing to compact."))

    talk.begin(compact_now())


# Out


def export_conversation(talk: Talk, given: str) -> None:
    from ..shared.session_export import FORM_OF_SUFFIX, export_session, times_of_entries

    path = Path(talk.config.folder, os.path.expanduser(given or f"{talk.session.id}.md"))
    if path.suffix not in FORM_OF_SUFFIX:
        known = ", ".join(FORM_OF_SUFFIX)
        raise UsageError(f"{path.suffix or path.name} is not an export format; use one of {known}")
    store = talk.opener.store
    title = store.summary(talk.session.id).title if store is not None else ""
    times = times_of_entries(store, talk.session.id) if store is not None else []
    form = FORM_OF_SUFFIX[path.suffix]
    write_new(path, export_session(talk.session.history, form, talk.secrets, title, times))
    talk.edge.show(Notice(f"Written to {path}."))


def copy_last_answer(talk: Talk, rest: str) -> None:
    turns = talk.session.history.turns
    answers = [turn.text for turn in turns if isinstance(turn, ModelTurn) and turn.text.strip()]
    if not answers:
        raise UsageError("there is no answer to copy yet; ask something first")
    text = printable(answers[-1])
    remote = is_remote(os.environ)
    if not remote and copy_with_program(text):
        talk.edge.show(Notice(f"Copied {len(text):,} characters."))
    elif talk.edge.copy_text(text) or (remote and copy_with_program(text)):
        talk.edge.show(Notice(f"Sent {len(text):,} characters to the clipboard of your terminal (OSC 52)."))
    else:
        path = talk.config.places.state / "copied.md"
        write_private(path, text)
        talk.edge.show(Notice(f"No clipboard was found; the answer is in {path}."))


def _ago(when: float) -> str:
    seconds = max(0, int(time.time() - when))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"
