"""Slash commands for the model, the session, undo, export and copy."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...history.log import History
from ...model import Compaction, ModelTurn, Turn, UserTurn, joined_text
from ...providers import PROVIDERS, find_provider
from ...tools.confine.process import environment
from ...world.config import DEFAULT_MODELS
from ...world.places import write_new, write_private
from ..shared.clean_text import one_line, printable
from .pieces import Notice, Rows

if TYPE_CHECKING:
    from .talk import Talk

LISTED = 15
SCREEN = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "WSL_INTEROP")
CLIPBOARDS = (("pbcopy",), ("wl-copy",), ("xclip", "-selection", "clipboard"), ("xsel", "-ib"), ("clip.exe",))


# Who answers


def model_names(talk: Talk) -> list[str]:
    """The names that /model offers: configured targets, and the models of this session."""
    turns = talk.session.history.turns
    seen = [str(turn.origin) for turn in turns if isinstance(turn, ModelTurn) and turn.origin.model]
    return list(dict.fromkeys([*talk.config.targets(), str(talk.session.target.origin), *seen]))


def switch_model(talk: Talk, name: str) -> None:
    if not name:
        current = str(talk.session.target.origin)
        rows = [(known, "current" if known == current else "") for known in model_names(talk)]
        talk.edge.show(Rows(tuple(rows), "Models; any other provider:model works too"))
        return
    place = talk.config.target(name)
    talk.session.switch(place)
    talk.refresh_status()
    when = "after this reply" if talk.session.busy else "from now on"
    talk.edge.show(Notice(f"{place.origin} answers {when}, with the whole conversation."))


def provider_names(talk: Talk) -> list[str]:
    return [name for name in PROVIDERS if talk.config.has_key(name)]


def switch_provider(talk: Talk, name: str) -> None:
    if not name:
        rows = [(known, DEFAULT_MODELS.get(known, "")) for known in provider_names(talk)]
        talk.edge.show(Rows(tuple(rows), "Providers with a key; `turnout providers` lists all"))
        return
    switch_model(talk, find_provider(name).name)


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
        lines = talk.opener.required_store.list(limit=LISTED)
        rows = [
            (line.id, f"{_ago(line.updated)}  {line.turns} turns  {one_line(line.title)}") for line in lines
        ]
        talk.edge.show(Rows(tuple(rows), "Sessions, the latest first: /resume ID"))
        return
    id = talk.opener.find_session(given)
    if id == talk.session.id:
        raise UsageError(f"{id} is this session; choose another one")

    async def open_session() -> None:
        await talk.go_to(id)
        talk.recall()
        talk.edge.show(Notice(f"Resumed {id}; {talk.session.target.origin} answers."))

    talk.begin(open_session())


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


def undo_last_prompt(talk: Talk, rest: str) -> None:
    history = talk.session.history
    asked = [at for at, turn in enumerate(history.turns) if isinstance(turn, UserTurn)]
    if not asked or (asked[-1] == 0 and history.summary):
        raise UsageError("there is no prompt to remove; use /resume to open another session")
    turn = history.turns[asked[-1]]
    made = _compactions_before(history, turn)
    history.rewind(history.turns[asked[-1] - 1].key if asked[-1] else "")
    for each in made:
        history.compact(each.through_key, each.summary, shortened=each.shortened, pinned=each.pinned)
    talk.refresh_status()
    talk.edge.show(Notice("Removed. Files that tools have changed stay changed."))
    talk.edge.put_back(joined_text(turn.blocks[:1]))


def _compactions_before(history: History, turn: Turn) -> list[Compaction]:
    """The compactions between a turn and the one before it, which a rewind would undo."""
    at = max(place for place, entry in enumerate(history.entries) if entry == turn)
    before = takewhile(
        lambda entry: not isinstance(entry, UserTurn | ModelTurn), reversed(history.entries[:at])
    )
    return [entry for entry in before if isinstance(entry, Compaction)][::-1]


# Out


FORMS = {".md": "markdown", ".html": "html", ".htm": "html", ".jsonl": "jsonl"}


def export_conversation(talk: Talk, given: str) -> None:
    from ...interchange.exports import export as exported

    path = Path(talk.config.folder, os.path.expanduser(given or f"{talk.session.id}.md"))
    if path.suffix not in FORMS:
        raise UsageError(f"{path.suffix or path.name} is not an export format; use one of {', '.join(FORMS)}")
    store = talk.opener.store
    title = store.summary(talk.session.id).title if store is not None else ""
    data = exported(talk.session.history, FORMS[path.suffix], title)
    write_new(path, talk.secrets.hide_known(data.decode()).encode())
    talk.edge.show(Notice(f"Written to {path}."))


def copy_last_answer(talk: Talk, rest: str) -> None:
    turns = talk.session.history.turns
    answers = [turn.text for turn in turns if isinstance(turn, ModelTurn) and turn.text.strip()]
    if not answers:
        raise UsageError("there is no answer to copy yet; ask something first")
    text = printable(answers[-1])
    for words in CLIPBOARDS:
        if shutil.which(words[0]) and _pipe_to(words, text):
            talk.edge.show(Notice(f"Copied {len(text):,} characters."))
            return
    path = talk.config.places.state / "copied.md"
    write_private(path, text)
    talk.edge.show(Notice(f"No clipboard program was found; the answer is in {path}."))


def _pipe_to(words: tuple[str, ...], text: str) -> bool:
    """Run a clipboard program. It may outlive us, so it gets the variables of the display and no API keys."""
    known = environment(os.environ, SCREEN)
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(
            words, input=text.encode(), timeout=5, stdout=quiet, stderr=quiet, env=known, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _ago(when: float) -> str:
    seconds = max(0, int(time.time() - when))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"
