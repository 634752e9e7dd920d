"""What bash would run, told by bash itself: a dry run in which every command only says its words.

Nothing is on the PATH, so that each program ends in our handler, and every builtin is
replaced by a function of its name. What is left is bash's own reading of the line.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import cache
from tempfile import mkdtemp

LONGEST = 1_500  # so that what one command says is written in one piece
UNSPEAKABLE = {"builtin"}  # we need it ourselves

_RECORD = """
function record { builtin printf '%s\\0' "$#" "$@" >&"$DRY"; }
function command_not_found_handle { record "$@"; }
"""
_ENVIRONMENT = {"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"}


@cache
def _folder() -> str:
    folder = mkdtemp(prefix="dry-bash-")
    listed = subprocess.run(["/bin/bash", "-c", "compgen -b"], capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split() if name not in UNSPEAKABLE]
    with open(f"{folder}/dry", "w") as file:
        file.write(_RECORD + "".join(f'function {name} {{ record {name} "$@"; }}\n' for name in names))
    os.mkdir(f"{folder}/empty")
    return folder


def runs(line: str) -> list[tuple[str, ...]]:
    """The commands of a line as bash would run them, each with its words."""
    reader, writer = os.pipe()
    try:
        subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-c", "--", line],
            env={**_ENVIRONMENT, "BASH_ENV": f"{_folder()}/dry", "DRY": str(writer)},
            cwd=f"{_folder()}/empty",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(writer,),
            timeout=10,
        )
        os.set_blocking(reader, False)
        return list(_said(reader))
    finally:
        os.close(reader)
        os.close(writer)


def _said(reader: int) -> Iterator[tuple[str, ...]]:
    data = b""
    try:
        while chunk := os.read(reader, 1 << 20):
            data += chunk
    except BlockingIOError:
        pass
    fields = data.decode(errors="surrogateescape").split("\0")[:-1]
    while fields:
        count = int(fields[0])
        yield tuple(fields[1 : count + 1])
        del fields[: count + 1]
