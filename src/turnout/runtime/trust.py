"""Files of a project are somebody else's code: they take effect once the user trusts their content.

Trust is bound to the content, not to the folder: a changed file asks again.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec

from .places import Places, write_private

PROJECT_FILES = (".turnout/config.toml", ".turnout/mcp.json", ".mcp.json")


class Trust:
    """What the user has trusted, kept in the user's own state."""

    def __init__(self, places: Places) -> None:
        self._file = places.state / "trusted.json"

    def is_trusted(self, path: Path) -> bool:
        return fingerprint([path]) in self._known()

    def trust(self, paths: Iterable[Path]) -> None:
        known = self._known() | {fingerprint([path]) for path in paths}
        write_private(self._file, msgspec.json.encode(sorted(known)).decode())

    def _known(self) -> set[str]:
        try:
            return set(msgspec.json.decode(self._file.read_bytes(), type=list[str]))
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return set()


def fingerprint(paths: Iterable[Path]) -> str:
    """One hash over the places and the contents of files."""
    digest = sha256()
    for path in paths:
        digest.update(str(path.resolve()).encode("utf-8", "surrogateescape") + b"\0")
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def project_files(folder: Path) -> list[Path]:
    """The files of a project that would change what turnout does."""
    found = [folder / name for name in PROJECT_FILES]
    found += sorted((folder / ".turnout" / "commands").glob("*.md"))
    return [path for path in found if path.is_file()]
