"""What a command amounts to before it runs: its risk, its parts, and the files that it may touch.

Most of it is a judgement of words (`shell_safety`, `reached`); here it meets the workspace, which
knows what a glob fits, where a program lies and what a repository has git start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from posixpath import join
from typing import Any

from .. import git, process
from ..expansion import files_fitting
from ..git_content import shows_content
from ..reached import Reached
from ..sandbox import OPEN
from ..shell_safety import Judgement, judge
from ..situation import Assessment, Situation
from ..workspace import Workspace

FOLDER = "shell.folder"  # where the folder is kept in the session's state
MOST_GLOBS = 20  # that are looked at
MOST_MENTIONS = 500  # beyond which the sandbox alone keeps what rules deny
_PIECES = re.compile(r"[=:@,]")
_WILD = re.compile(r"[*?\[]")


def assessed(arguments: Mapping[str, Any], situation: Situation) -> Assessment:
    """What a command amounts to here: one that only reads is no risk, if a sandbox holds it to that."""
    line = str(arguments.get("command", ""))
    judged = judge(line, str(situation.state.get(FOLDER, ".")))
    few = len(judged.globs) <= MOST_GLOBS
    fitting = [_fitting(pattern, situation) if few else None for pattern in judged.globs]
    planted = _planted((each.program for each in judged.commands), situation)
    reasons = list(_reasons(judged, planted, situation))
    if None in fitting:
        reasons.append("a glob in it fits too many files to look at")
    if arguments.get("background"):
        reasons.append("it goes on in the background")
    reached = Reached(lambda program: _real_name(program, judged.folder, situation))
    if judged.commands:
        reached.add_commands(judged.commands)
    else:
        reached.add_doubtful(line, judged.too_much)
    return Assessment(
        "risky" if reasons and judged.risk in ("read", "write") else judged.risk,
        "; ".join(reasons),
        (*judged.paths, *(path for found in fitting for path in found or ())),
        {"command": tuple(command.text for command in judged.commands)},
        judged.too_much,
        situation.network,
        only_reads=_only_reads(judged) and not planted and not arguments.get("background"),
        reached={"command": reached.texts},
        untold=("command",) if reached.untold else (),
        possible={"command": tuple(reached.possible)},
        mentions=tuple(islice(_mentions(reached, judged, situation), MOST_MENTIONS)),
        may_show=_may_show(judged, reached, situation),
    )


def _reasons(judged: Judgement, planted: str, situation: Situation) -> Iterator[str]:
    """Why it is asked for."""
    if judged.why:
        yield judged.why
    if not situation.confined:
        note = str(getattr(situation.spawn, "note", ""))
        yield f"{OPEN} ({note})" if note else OPEN
    elif planted:
        yield f"{planted} would be run from the workspace"
    elif named := _named_by_repository(judged, situation):
        yield f"the settings of the repository name {named}, by which git may start programs"


def _planted(programs: Iterable[str], situation: Situation) -> str:
    """The first program that bash would find in the workspace and not in the system."""
    root = getattr(situation.workspace, "root", "")
    source = os.environ if situation.environment is None else situation.environment
    folders = process.environment(source)["PATH"].split(":")
    for program in programs:
        found = next((folder for folder in folders if os.access(os.path.join(folder, program), os.X_OK)), "")
        real = os.path.realpath(found)
        if root and found and (real + "/").startswith(os.path.realpath(root) + "/"):
            return program
    return ""


def _named_by_repository(judged: Judgement, situation: Situation) -> str:
    """What the repository has git start, if git is called; "" otherwise."""
    calls_git = any(command.program == "git" for command in judged.commands)
    if not calls_git or not isinstance(situation.workspace, Workspace):
        return ""
    return git.program_setting(situation.workspace, judged.folder)


def _fitting(pattern: str, situation: Situation) -> list[str] | None:
    """What a glob stands for; None when that cannot be told."""
    if not isinstance(situation.workspace, Workspace):
        return None
    return files_fitting(situation.workspace, pattern)


def _only_reads(judged: Judgement) -> bool:
    """Whether reading may go on beside it. A mere `cd` is there for the commands after it: they wait."""
    return judged.only_reads and any(command.program != "cd" for command in judged.commands)


# What a rule that denies looks at


def _real_name(program: str, folder: str, situation: Situation) -> str:
    """The last name of what a program leads to that is named by its path."""
    root = getattr(situation.workspace, "root", "/")
    return os.path.basename(os.path.realpath(os.path.join(root, folder, program)))


def _mentions(reached: Reached, judged: Judgement, situation: Situation) -> Iterator[str]:
    """Whatever in the words may be a path: each word, and its pieces (`if=x`, `HEAD:x`, `-fx`).

    Of programs on the list it is known which words are paths, but for git, which has paths in
    other words too.
    """
    unknown = [each for each in judged.commands if each in judged.unlisted or each.program == "git"]
    if len(unknown) < len(judged.commands):
        reached = Reached()
        reached.add_commands(unknown)
    words = dict.fromkeys(word for each in reached.found for word in each[1:])
    pieces = dict.fromkeys(piece for word in words for piece in _pieces(word))
    yield from (join(judged.folder, piece) for piece in pieces)
    for piece in [piece for piece in pieces if _WILD.search(piece)][:MOST_GLOBS]:
        yield from _fitting(join(judged.folder, piece), situation) or ()


def _pieces(word: str) -> Iterator[str]:
    attached = [word[2:]] if word.startswith("-") else []
    yield from (piece for piece in (word, *_PIECES.split(word), *attached) if piece and "\0" not in piece)


def _may_show(judged: Judgement, reached: Reached, situation: Situation) -> str:
    """Why it may show files that it does not name; "" when the sandbox covers all that rules deny."""
    if not situation.confined:
        return "no sandbox keeps it from files that it does not name"
    is_file = _file_test(judged.folder, situation)
    if reached.obscure or any(shows_content(words, is_file) for words in reached.found):
        return "it may show what the history of a repository holds"
    return ""


def _file_test(folder: str, situation: Situation) -> Callable[[str], bool]:
    """Whether a word names one file of the workspace, and nothing that stands for more."""

    def is_file(path: str) -> bool:
        if path.startswith(":") or _WILD.search(path) or not isinstance(situation.workspace, Workspace):
            return False
        try:
            return situation.workspace.kind(join(folder, path)) == "file"
        except OSError:
            return False

    return is_file
