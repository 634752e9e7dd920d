"""A path that does not name a store: everything there stays as it was, and the error says what is there."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from turnout.errors import StoreError, UsageError
from turnout.store import Store
from turnout.store.place import close_to_others
from turnout.surfaces.cli.debug_log import DebugLog, Secrets


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("mine")


def a_text_file(path: Path) -> None:
    path.write_text("dear diary")


def a_long_text_file(path: Path) -> None:
    path.write_text("dear diary\n" * 1000)


def a_link_to_a_file(path: Path) -> None:
    path.with_name("target").write_text("dear diary")
    path.symlink_to("target")


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("not-there")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device(path: Path) -> None:
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # as /dev/null
    except PermissionError:
        pytest.skip("not tested: only root can make a device")


def another_programs_database(path: Path) -> None:
    """With a log that the other program left when it was killed."""
    living = path.with_name("living")
    connection = apsw.Connection(str(living))
    connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE theirs (x)").fetchall()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO theirs VALUES (1)").fetchall()
    for suffix in ("", "-wal"):
        shutil.copy(f"{living}{suffix}", f"{path}{suffix}")
    connection.close()
    living.unlink()


WRONG = (
    a_folder,
    a_text_file,
    a_long_text_file,
    a_link_to_a_file,
    a_link_to_nothing,
    a_pipe,
    a_device,
    another_programs_database,
)


def everything_below(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Mode, time and content of all that lies there."""
    return {str(path.relative_to(folder)): _state_of(path) for path in sorted(folder.rglob("*"))}


def _state_of(path: Path) -> tuple[int, int, bytes]:
    found = path.lstat()
    content = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    return found.st_mode, found.st_mtime_ns, content


def made(make: Callable[[Path], None], path: Path) -> Path:
    """The thing, as open as things usually are."""
    make(path)
    for each in path.parent.rglob("*"):
        if not each.is_symlink():
            each.chmod(0o755 if each.is_dir() else 0o644)
    return path


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
def test_a_wrong_path_is_left_as_it_is_by_the_store(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """`TURNOUT_STORE=$HOME` does not lock the home; the error names the path or what it is."""
    path = made(make, tmp_path / "wrong")
    before = everything_below(tmp_path)
    with Store(path, heartbeat=False) as store, pytest.raises(StoreError) as refused:
        store.open("s")
    assert everything_below(tmp_path) == before
    assert re.search("name|choose another file", str(refused.value)), "the next step is named"


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
def test_a_wrong_path_is_left_as_it_is_by_the_debug_log(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """`--debug` appends to its own logs and to nothing else."""
    path = made(make, tmp_path / "wrong")
    before = everything_below(tmp_path)
    with pytest.raises(UsageError, match="--debug"):
        DebugLog(str(path), Secrets({}))
    assert everything_below(tmp_path) == before


def test_a_debug_log_of_an_earlier_run_is_appended_to(tmp_path: Path) -> None:
    """It is known by how it begins, and closed to others should it have been opened."""
    path = tmp_path / "debug.log"
    for number in (1, 2):
        DebugLog(str(path), Secrets({}))("request", number=number)
        path.chmod(path.stat().st_mode & 0o700 | 0o044)
    DebugLog(str(path), Secrets({}))("request", number=3)
    assert path.read_text().count('"what": "request"') == 3
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_only_a_regular_file_gets_another_mode(tmp_path: Path) -> None:
    """A link planted beside the store does not choose whose mode changes, and a folder keeps its own."""
    theirs, link, folder = tmp_path / "theirs", tmp_path / "s.db-shm", tmp_path / "s.db-wal"
    theirs.write_text("mine")
    theirs.chmod(0o644)
    link.symlink_to("theirs")
    folder.mkdir(mode=0o755)
    before = everything_below(tmp_path)
    with suppress(OSError):
        close_to_others(tmp_path / "s.db")
    assert everything_below(tmp_path) == before
