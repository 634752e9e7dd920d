"""The folder a session works in: the only way by which file tools reach files.

The session chooses the root, never the model. The root is opened once and held open. Every path is
then opened beneath it (see `beneath`), so a path is judged by what the kernel opens and never by
its text. Files are written whole or not at all (see `replace_file`).

Refused on purpose: absolute symlinks, also those that point back inside (the kernel cannot tell),
and writing to files that other programs execute or obey: `.git`, whose hooks and settings they run,
and our own settings of the project. A hard link to a file outside can be read; writing it breaks
the link.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from ...errors import UsageError
from .beneath import Opener, PathRefused, best_opener, outside_error, whereabouts
from .file_names import escape_name, unescape_name
from .open_folder import (
    AS_DIRECTORY,
    NOT_BLOCKING,
    ONLY_LOOK,
    Entry,
    HeldFolder,
    Kind,
    Stamp,
    entry_of,
    kind_of,
    link_target,
    make_directory,
    not_a_file,
    require_file,
    status_of,
)
from .output import SavedOutput
from .replace_file import put_in_place

PROTECTED = (".git", ".turnout", ".mcp.json")
MAX_LINKS = 40


def works_here() -> bool:
    """Whether this system opens files beneath a folder; Windows does not."""
    return os.open in os.supports_dir_fd


class WorkspaceFiles:
    """Files beneath one root, and read-only ones beneath `readable` folders.

    `protected` names may be read but not written, anywhere in the tree. `saved` holds whole
    outputs, which can be read like files of the workspace.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        readable: Sequence[str | os.PathLike[str]] = (),
        saved: SavedOutput | None = None,
        protected: Sequence[str] = PROTECTED,
        opener: Opener | None = None,
    ) -> None:
        if not works_here():
            raise UsageError(
                "a workspace needs an operating system that opens files beneath a folder; use Linux or macOS"
            )
        self.root = os.path.abspath(root)
        self.protected = frozenset(name.casefold() for name in protected)
        self._root = HeldFolder(self.root)
        self.saved = saved
        folders = [*readable, saved.folder] if saved else readable
        self._readable = tuple(HeldFolder(os.path.abspath(folder)) for folder in folders)
        self._open: Opener = opener or best_opener(self._root.descriptor)

    def close(self) -> None:
        for root in (self._root, *self._readable):
            root.close()

    def __enter__(self) -> WorkspaceFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def roots(self) -> tuple[str, ...]:
        """The absolute paths by which the root is known: as given, and without links."""
        return tuple(sorted(self._root.names))

    @property
    def confinement(self) -> str:
        """How paths are confined: `by_kernel` (openat2) or `step_by_step`."""
        return getattr(self._open, "__name__", "custom")

    # Reading

    def open(self, path: str) -> BinaryIO:
        """A regular file, open for reading bytes."""
        try:
            descriptor = self._descriptor(path, os.O_RDONLY | NOT_BLOCKING)
        except OSError as error:
            raise not_a_file(path) if error.errno == errno.ENXIO else error from None  # a socket
        try:
            require_file(os.fstat(descriptor), path)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def read(self, path: str, limit: int) -> tuple[bytes, Stamp]:
        """A whole file with its stamp; refused when it is larger than `limit` bytes."""
        with self.open(path) as file:
            stamp = Stamp.of(os.fstat(file.fileno()))
            data = file.read(limit + 1)
        if len(data) > limit:
            raise PathRefused("too_large", f"{path} has {stamp.size:,} bytes; the limit here is {limit:,}")
        return data, stamp

    leaves_out = ""
    """Which part of the folder is not shown here, in words; see `guarded_ports`."""

    def denies(self, path: str) -> bool:
        """Whether a rule denies the content of a path; see `guarded_ports`."""
        return False

    def kind(self, path: str) -> Kind:
        """What a path leads to; raises as opening would."""
        descriptor = self._descriptor(path, ONLY_LOOK)
        try:
            return kind_of(os.fstat(descriptor).st_mode)
        finally:
            os.close(descriptor)

    def directory(self, path: str = ".") -> int:
        """A directory's descriptor; the caller closes it."""
        return self._descriptor(path, AS_DIRECTORY)

    def entries(self, path: str = ".") -> list[Entry]:
        """What a directory holds, by name."""
        descriptor = self.directory(path)
        try:
            with os.scandir(descriptor) as found:
                return sorted((entry_of(item, descriptor) for item in found), key=lambda entry: entry.name)
        finally:
            os.close(descriptor)

    def walk(
        self, path: str = ".", leave_out: Callable[[str, Entry], bool] = lambda path, entry: False
    ) -> Iterator[tuple[str, Entry]]:
        """Every entry below a directory, parents first, by name; links are named, not followed.

        Folders that cannot be read, or vanish meanwhile, are skipped.
        """
        waiting = [path]
        while waiting:
            folder = waiting.pop()
            try:
                entries = self.entries(folder)
            except OSError:
                if folder == path:
                    raise
                continue
            below = []
            for entry in entries:
                child = entry.name if folder in (".", "") else f"{folder.rstrip('/')}/{entry.name}"
                if leave_out(child, entry):
                    continue
                yield child, entry
                if entry.kind == "directory":
                    below.append(child)
            waiting.extend(reversed(below))

    # Writing

    def write(self, path: str, data: bytes, *, expected: Stamp | None = None) -> bool:
        """Put `data` in place of a file, whole or not at all; True when the file is new.

        Mode and owner stay; missing folders are made. With `expected`, a file that has changed
        since it was read is not written.
        """
        parent, name = self._destination(path)
        try:
            before = status_of(name, parent)
            if before is not None:
                require_file(before, path)
            if expected is not None and (before is None or Stamp.of(before) != expected):
                raise PathRefused("changed", f"{path} has changed since it was read; read it again")
            put_in_place(parent, name, data, before)
        finally:
            os.close(parent)
        return before is None

    def delete(self, path: str, *, expected: Stamp | None = None) -> None:
        """Delete a file. For a link the link itself is deleted, not its target."""
        folder, name = _folder_and_name(self._writable_path(path))
        if name in ("", ".", ".."):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        parent = self._open_path(self._root, folder, AS_DIRECTORY)
        try:
            self._require_writable(parent, name, path)
            before = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISDIR(before.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            if expected is not None and Stamp.of(before) != expected:
                raise PathRefused("changed", f"{path} has changed since it was read; read it again")
            os.unlink(name, dir_fd=parent)
        finally:
            os.close(parent)

    def _destination(self, path: str) -> tuple[int, str]:
        """The directory and name that a write to `path` ends at: links to files are followed.

        Each hop is opened beneath the root again, so a link can only lead to places that the path
        itself could have named.
        """
        wanted = path
        for _ in range(MAX_LINKS):
            folder, name = _folder_and_name(self._writable_path(wanted))
            if name in ("", ".", ".."):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            parent = self._made_directory(folder)
            try:
                self._require_writable(parent, name, path)
                target = link_target(name, parent)
            except BaseException:
                os.close(parent)
                raise
            if target is None:
                return parent, name
            os.close(parent)
            if target.startswith("/"):
                raise outside_error(path)
            wanted = f"{folder}/{target}" if folder else target
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)

    def _writable_path(self, path: str) -> str:
        root, relative = self._resolve_path(path)
        if root is not self._root:
            raise PathRefused("read_only", f"{path} lies in a folder that may only be read")
        return relative

    def _made_directory(self, folder: str) -> int:
        """The folder, open; missing folders are made."""
        missing: list[str] = []
        while True:
            try:
                here = self._open_path(self._root, folder, AS_DIRECTORY)
                break
            except FileNotFoundError:
                folder, name = _folder_and_name(folder)
                if name in ("", ".", ".."):
                    raise
                missing.append(name)
        for name in reversed(missing):
            above = here
            try:
                self._require_writable(above, name, folder)
                here = make_directory(above, name)
            finally:
                os.close(above)
        return here

    def _require_writable(self, parent: int, name: str, path: str) -> None:
        """Protected names are compared with where the directory really is, not with how it was written."""
        place = self.place_of(parent)
        names = (place if place is not None else path).split("/")
        if any(part.casefold() in self.protected for part in (*names, name)):
            raise PathRefused("protected", f"{path} lies in a protected folder ({', '.join(self.protected)})")

    # Names

    def place_of(self, descriptor: int) -> str | None:
        """Where an open file is, relative to the root ("" is the root); None if that is unknown."""
        place, root = whereabouts(descriptor), whereabouts(self._root.descriptor)
        if place is None or root is None:
            return None
        if place == root:
            return ""
        inside = root.rstrip("/") + "/"
        return place[len(inside) :] if place.startswith(inside) else None

    def identity(self, path: str) -> str:
        """One name for every spelling of a place: what the path leads to, whether it exists or not.

        Two calls with the same identity touch the same file, so they must not overlap. A path that
        leads out, through a link or `..` behind a link, has the name of a place outside.
        """
        try:
            root, relative = self._resolve_path(path)
        except OSError:
            return path
        rest: list[str] = []
        try:
            while (place := self._place_of(root, relative)) is None:
                relative, name = _folder_and_name(relative)
                if name in ("", ".", ".."):
                    return os.path.normpath(path)
                rest.insert(0, name)
        except PathRefused:
            return root.beyond("/".join((relative, *rest)))
        return os.path.normpath("/".join(part for part in (place, *rest) if part) or ".")

    def shows(self, place: str) -> bool:
        """Whether a place, as `identity` names it, lies in the workspace or in a folder it may read."""
        if place.startswith("/"):
            return any(root.below(place) is not None for root in (self._root, *self._readable))
        return place != ".." and not place.startswith("../")

    def _place_of(self, root: HeldFolder, relative: str) -> str | None:
        """Where a path leads; None when it leads to nothing. Raises `Refused` when it leads out."""
        try:
            descriptor = self._open_path(root, relative, ONLY_LOOK)
        except PathRefused:
            raise
        except (OSError, ValueError):
            return None
        try:
            place = self.place_of(descriptor)
            return place if place is not None else whereabouts(descriptor) or relative
        finally:
            os.close(descriptor)

    def _names_something(self, root: HeldFolder, relative: str) -> bool:
        try:
            return self._place_of(root, relative) is not None
        except PathRefused:
            return True  # it exists, but may not be opened

    def _descriptor(self, path: str, flags: int) -> int:
        return self._open_path(*self._resolve_path(path), flags)

    def _resolve_path(self, path: str) -> tuple[HeldFolder, str]:
        """The path as written; or unescaped (see `escape_name`), if only that names something."""
        root, relative = self._root_and_rest(path)
        unescaped = unescape_name(relative)
        if unescaped == relative or self._names_something(root, relative):
            return root, relative
        return root, unescaped if self._names_something(root, unescaped) else relative

    def _open_path(self, root: HeldFolder, relative: str, flags: int) -> int:
        return self._open(root.descriptor, relative or ".", flags, 0)

    def _root_and_rest(self, path: str) -> tuple[HeldFolder, str]:
        """The root that a path names, and the rest. This only reads the text; it checks nothing."""
        if "\0" in path:
            raise PathRefused("invalid", f"{escape_name(path)} holds a NUL character; paths cannot hold it")
        if not _encodable(path):
            raise PathRefused("invalid", f"{escape_name(path)} holds a lone surrogate; paths cannot hold it")
        if not path.startswith("/"):
            return self._root, path
        plain = "/" + path.lstrip("/")
        for root in (self._root, *self._readable):
            if (rest := root.below(plain)) is not None:
                return root, rest
        raise outside_error(path)


def _encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _folder_and_name(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name
