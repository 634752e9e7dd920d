"""Files of a project may be written by others: they take effect once the user trusts their content.

Trust is bound to the content, not to the folder: a changed file must be trusted again.
One read gives the bytes and checks them, so that what is used is what was checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec

from .places import Places, write_private

LARGEST = 1024 * 1024
PROJECT_FILES = (".turnout/config.toml", ".turnout/mcp.json", ".mcp.json")


class Trust:
    """The files that the user trusts, kept in the user's state folder."""

    def __init__(self, places: Places) -> None:
        self._file = places.state / "trusted.json"

    def read(self, path: Path) -> bytes | None:
        """The content of a file if it is trusted; a file longer than `LARGEST` never is."""
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        return (
            data
            if len(data) <= LARGEST and file_fingerprint(path, data) in self._read_fingerprints()
            else None
        )

    def is_trusted(self, path: Path) -> bool:
        return self.read(path) is not None

    def trust(self, paths: Iterable[Path]) -> None:
        self.trust_contents((path, path.read_bytes()) for path in paths)

    def trust_contents(self, seen: Iterable[tuple[Path, bytes]]) -> None:
        """Trust the given contents: what the user was shown, even if the file changed since."""
        known = self._read_fingerprints() | {file_fingerprint(path, data) for path, data in seen}
        write_private(self._file, msgspec.json.encode(sorted(known)).decode())

    def _read_fingerprints(self) -> set[str]:
        try:
            return set(msgspec.json.decode(self._file.read_bytes(), type=list[str]))
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return set()


def file_fingerprint(path: Path, data: bytes) -> str:
    """One hash over a file's place and its content."""
    place = str(path.resolve()).encode("utf-8", "surrogateescape")
    return sha256(place + b"\0" + sha256(data).digest()).hexdigest()


def project_files(folder: Path) -> list[Path]:
    """The files of a project that would change what turnout does."""
    found = [folder / name for name in PROJECT_FILES]
    found += sorted((folder / ".turnout" / "commands").glob("*.md"))
    return [path for path in found if path.is_file()]
