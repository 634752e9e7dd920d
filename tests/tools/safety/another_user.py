"""Running Python as a user without rights, where tests run as the superuser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

NO_ORIGIN = 65534
HERE = Path(__file__).parents[3]
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


def run_as_nobody(code: str, home: Path) -> str:
    """What a program says that runs as nobody, with a folder of its own for everything it makes."""
    os.chown(home, NO_ORIGIN, NO_ORIGIN)
    done = subprocess.run(
        [_interpreter(), "-c", code],
        cwd=home,
        env=_environment(home),
        user=NO_ORIGIN,
        group=NO_ORIGIN,
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _environment(home: Path) -> dict[str, str]:
    path = os.pathsep.join(each for each in (str(HERE / "src"), str(HERE), *sys.path) if each)
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": path}


@cache
def _interpreter() -> str:
    """A Python of this version that nobody can run with our packages; "" where there is none."""
    for program in (sys.executable, shutil.which(VERSION, path="/usr/local/bin:/usr/bin") or ""):
        if program and _works(program):
            return program
    return ""


def _works(program: str) -> bool:
    try:
        tried = subprocess.run(
            [program, "-c", f"import turnout, sys; assert '{VERSION[6:]}' == '%d.%d' % sys.version_info[:2]"],
            env=_environment(Path("/nonexistent")),
            cwd="/",
            user=NO_ORIGIN,
            group=NO_ORIGIN,
            extra_groups=[],
            capture_output=True,
            timeout=30,
        )
    except OSError:
        return False
    return tried.returncode == 0


def _obstacles() -> Iterator[str]:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield "tests do not run as the superuser"
    elif not _interpreter():
        yield f"no {VERSION} can be run by another user with our packages"


needs_another_user = pytest.mark.skipif(
    bool(list(_obstacles())), reason=f"another user was not tried: {', '.join(_obstacles())}"
)


@pytest.fixture
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that another user can reach; those of tests are closed to them."""
    from tempfile import mkdtemp

    folder = Path(mkdtemp(prefix="turnout-nobody-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
