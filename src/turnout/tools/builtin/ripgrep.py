"""ripgrep as a filter for grep: it names the files that may match, and grep reads them itself.

So a large tree is searched fast, and still every line that is shown comes from a file opened beneath
the workspace: a link that is swapped meanwhile can make ripgrep name a wrong file, but never show
one. It is used only for patterns that mean the same in both.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from ..confine.ignore import NOISE
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext

OPTIONS = (
    *("--files-with-matches", "--null", "--no-config", "--no-messages", "--hidden", "--text", "--crlf"),
    *(
        "--no-ignore-global",
        "--no-ignore-parent",
        "--no-ignore-dot",
        "--no-ignore-exclude",
        "--no-require-git",
    ),
)
MOST = 8 * 1024 * 1024  # bytes of names
_SAME = re.compile(
    r"(?:[A-Za-z0-9_ /:,;=@#%&!<>'\"~`.^$*+?|()-]|\{\d{1,3}(?:,\d{0,3})?\}"
    r"|\\[.^$*+?{}\[\]\\|()bwdsBWDS-]|\[\^?[A-Za-z0-9_ -]+\])+"
)


def means_the_same(pattern: str, literal: bool) -> bool:
    """Whether ripgrep reads a pattern as Python does."""
    return "\n" not in pattern if literal else bool(_SAME.fullmatch(pattern)) and "(?" not in pattern


def find_program(environment: Mapping[str, str], root: str) -> str:
    """Ripgrep on the PATH, but not one inside the workspace; "" where there is none."""
    for folder in environment.get("PATH", "").split(":"):
        program = os.path.join(folder, "rg")
        inside = (os.path.realpath(folder) + "/").startswith(os.path.realpath(root) + "/")
        if folder.startswith("/") and not inside and os.access(program, os.X_OK) and os.path.isfile(program):
            return program
    return ""


def candidates(
    ctx: ToolContext,
    workspace: WorkspaceFiles,
    folder: str,
    pattern: str,
    *,
    literal: bool,
    ignore_case: bool,
    include_ignored: bool,
    seconds: float,
) -> list[str] | None:
    """Names of the files below a folder that may hold a match; None when ripgrep cannot be used."""
    program = find_program(os.environ if ctx.environment is None else ctx.environment, workspace.root)
    if not program or not means_the_same(pattern, literal):
        return None
    words = [program, *OPTIONS, "--glob", "!.git"]
    words += (
        ["--no-ignore"]
        if include_ignored
        else [word for name in sorted(NOISE) for word in ("-g", f"!{name}")]
    )
    words += [*(["--fixed-strings"] if literal else []), *(["--ignore-case"] if ignore_case else [])]
    descriptor = workspace.directory(folder)
    try:
        output = _run_ripgrep(ctx, [*words, "-e", pattern, "--", "."], descriptor, seconds)
    finally:
        os.close(descriptor)
    if output is None:
        return None
    below = "" if folder in (".", "") else f"{folder}/"
    return sorted((below + name for name in _names_in(output)), key=_as_walked)


def _as_walked(name: str) -> list[tuple[bool, str]]:
    """The order in which a walk meets files: those of a folder before those below it."""
    *folders, file = name.split("/")
    return [*((True, folder) for folder in folders), (False, file)]


def _names_in(output: bytes) -> Iterator[str]:
    return (os.fsdecode(name).removeprefix("./") for name in output.split(b"\0") if name)


def _run_ripgrep(ctx: ToolContext, words: list[str], folder: int, seconds: float) -> bytes | None:
    deadline = time.monotonic() + seconds
    with subprocess.Popen(
        words,
        cwd=f"/proc/self/fd/{folder}",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        pass_fds=(folder,),
        start_new_session=True,
    ) as process:
        while True:
            with suppress(subprocess.TimeoutExpired):
                output, _ = process.communicate(timeout=0.05)
                return output if process.returncode in (0, 1) and len(output) < MOST else None
            if time.monotonic() > deadline or ctx.cancelled.is_set():
                process.kill()
                return None
