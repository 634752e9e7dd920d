"""Tab completion: commands, their arguments, and files after an @."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from ...tools.confine.ignore import NOISE
from ...tools.confine.workspace import WorkspaceFiles
from ..shared.clean_text import one_line, visible
from ..shared.mentions import quoted_path
from .commands import command_names, find_command

if TYPE_CHECKING:
    from .talk import Talk

MOST = 50
MOST_FILES = 20_000
FRESH = 5.0
"""Seconds for which a listing of the workspace is reused."""

_MENTION = re.compile(r'(?:^|(?<=\s))@"?([^\s"]*)$')


class ChatCompleter(Completer):
    """Completes the input of one conversation."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._files: list[str] = []
        self._listed = 0.0

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        if text.startswith("/"):
            yield from self._commands(text[1:])
        elif found := _MENTION.search(text):
            yield from self._mentions(found[1], len(text) - found.start())

    def _commands(self, text: str) -> Iterator[Completion]:
        name, space, rest = text.partition(" ")
        if not space:
            known = {key: command.help for key, command in command_names() if command.help}
            known |= {key: own.description for key, own in self._talk.user_commands.items()}
            for key, description in known.items():
                if key.startswith(name):
                    yield Completion(key, -len(name), display_meta=one_line(description, 60))
            return
        command = find_command(name)
        if command is not None and command.choices is not None:
            yield from _matching_choices(command.choices(self._talk), rest)

    def _mentions(self, word: str, typed: int) -> Iterator[Completion]:
        wanted = word.lower()
        found = sorted(
            (path for path in self._paths() if wanted in path.lower()),
            key=lambda path: (not path.lower().startswith(wanted), path.count("/"), path),
        )
        for path in found[:MOST]:
            yield Completion(f"@{quoted_path(path)}", -typed, display=visible(path))

    def _paths(self) -> list[str]:
        if time.monotonic() - self._listed > FRESH:
            self._files = list(_file_paths(self._talk.session.scheduler.workspace))
            self._listed = time.monotonic()
        return self._files


def _matching_choices(choices: Iterable[str], typed: str) -> Iterator[Completion]:
    for choice in choices:
        if typed.lower() in choice.lower():
            yield Completion(choice, -len(typed))


def _file_paths(workspace: WorkspaceFiles) -> Iterator[str]:
    left = MOST_FILES
    for path, entry in workspace.walk(".", lambda path, entry: entry.name in NOISE):
        left -= 1
        if left < 0:
            return
        if entry.kind == "file" and path.isprintable() and '"' not in path:
            yield path
