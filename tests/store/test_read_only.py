"""A store on a file system that cannot be written: everything in it can be read, and nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from turnout.store import Store

READ = """
import json, sys
from turnout.errors import StoreError
from turnout.store import Store
with Store(sys.argv[1], heartbeat=False) as store:
    found = {
        "list": [line.id for line in store.list()],
        "texts": [block.text for turn in store.read("s").turns for block in turn.blocks],
        "hits": [hit.session for hit in store.search("later hel")],
        "counts": store.counters.read(),
        "check": store.check(),
    }
    try:
        store.open("new")
    except StoreError as error:
        found["refused"] = str(error)
print(json.dumps(found))
"""


def bind_read_only(folder: Path) -> list[str]:
    """The start of a command line for which this folder is on a read-only file system."""
    bound = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder)]
    if shutil.which("bwrap") is None or subprocess.run([*bound, "true"], capture_output=True).returncode:
        pytest.skip("a read-only file system is not tested: bwrap is not installed or may not mount")
    return bound


def leave_a_store(folder: Path, *, killed: bool) -> Path:
    """A store as its last process left it: closed, or killed with a log that holds the last words."""
    path, living = folder / "s.db", folder / "living.db"
    store = Store(living, heartbeat=False)
    history = store.open("s")
    history.user("hello")
    store.search("hello")
    history.user("later hello")
    if killed:
        for suffix in ("", "-wal"):
            shutil.copy(f"{living}{suffix}", f"{path}{suffix}")
        assert path.with_name("s.db-wal").stat().st_size
    store.close()
    if not killed:
        living.rename(path)
    return path


@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_a_store_on_a_read_only_file_system_can_be_read(tmp_path: Path, killed: bool) -> None:
    """Lists, sessions, searches (also of what the index lacks) and checks; to open one says why not."""
    path = leave_a_store(tmp_path, killed=killed)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    ran = subprocess.run(
        [*bind_read_only(tmp_path), sys.executable, "-c", READ, str(path)], capture_output=True, text=True
    )
    assert not ran.returncode, ran.stderr
    found = json.loads(ran.stdout)
    assert "can be read, but not written" in found.pop("refused")
    assert found == {
        "list": ["s"],
        "texts": ["hello", "later hello"],
        "hits": ["s"],
        "counts": [],
        "check": [],
    }
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
