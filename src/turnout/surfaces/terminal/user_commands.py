"""User-defined commands: Markdown files whose text is sent to the model.

`~/.config/turnout/commands/review.md` is `/review`. A project's `.turnout/commands` are used
once they are trusted. `$ARGUMENTS` is the text after the command, `$1` to `$9` are its words. A
first block between `---` may hold `description: …`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from ...world.config import Config

LARGEST = 64 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_HEAD = re.compile(r"---\s*\n(.*?)\n---\s*\n", re.DOTALL)
_PLACE = re.compile(r"\$(ARGUMENTS|[1-9])")


class UserCommand(Struct, frozen=True):
    """One command and the text that it sends."""

    name: str
    text: str
    description: str = ""
    source: str = ""

    def prompt_with(self, arguments: str) -> str:
        """The text with its placeholders filled; without placeholders, the arguments are appended."""
        words = _split_words(arguments)
        if _PLACE.search(self.text) is None:
            return f"{self.text}\n\n{arguments}".strip()

        def fill_place(found: re.Match[str]) -> str:
            if found[1] == "ARGUMENTS":
                return arguments
            at = int(found[1]) - 1
            return words[at] if at < len(words) else ""

        return _PLACE.sub(fill_place, self.text)


def user_commands(config: Config) -> dict[str, UserCommand]:
    """The user's commands, and the trusted ones of the project. The user's win."""
    found: dict[str, UserCommand] = {}
    for path, data in (*_user_files(config), *_project_files(config)):
        if _NAME.fullmatch(path.stem) and path.stem not in found:
            found[path.stem] = _parse_command(path, data)
    return found


def _user_files(config: Config) -> Iterator[tuple[Path, bytes]]:
    for path in sorted((config.places.config / "commands").glob("*.md")):
        if path.is_file():
            yield path, path.read_bytes()


def _project_files(config: Config) -> Iterator[tuple[Path, bytes]]:
    for path in sorted((config.folder / ".turnout" / "commands").glob("*.md")):
        if (data := config.read_trusted(path)) is not None:
            yield path, data


def _parse_command(path: Path, data: bytes) -> UserCommand:
    text = data[:LARGEST].decode(errors="replace")
    head = _HEAD.match(text)
    described = re.search(r"^description:\s*(.+)$", head[1], re.MULTILINE) if head else None
    body = (text[head.end() :] if head else text).strip()
    description = described[1].strip(" \"'") if described else body.partition("\n")[0][:80]
    return UserCommand(path.stem, body, description, str(path))


def _split_words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()
