"""The assessment of a command before it runs: its risk, its parts, and the files that it may touch.

Most of it is a judgement of words (`shell_safety`, `reached_programs`). The workspace adds what a glob
matches, where a program is and which programs a repository lets git start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from posixpath import join
from typing import Any

from ..confine import git, process
from ..confine.sandbox import OPEN
from ..confine.workspace import WorkspaceFiles
from ..policy.git_content import shows_content
from ..policy.reached_programs import Reached
from ..policy.shell_safety import Judgement, judge_line
from ..policy.situation import Assessment, Situation

FOLDER = "shell.folder"  # the key of the folder in the session's state
MOST_GLOBS = 20  # globs in a line that are expanded
MOST_NAMES = 2_000  # in folders that a glob is compared with
MOST_MENTIONS = 500  # paths that rules look at; beyond, only the sandbox covers denied files
_PIECES = re.compile(r"[=:@,]")
_WILD = re.compile(r"[*?\[]")


def assess_command(arguments: Mapping[str, Any], situation: Situation) -> Assessment:
    """The assessment of a command: one that only reads has no risk, if a sandbox keeps it from writing."""
    line = str(arguments.get("command", ""))
    judged = judge_line(line, str(situation.state.get(FOLDER, ".")))
    few = len(judged.globs) <= MOST_GLOBS
    fitting = [_files_for(pattern, situation) if few else None for pattern in judged.globs]
    planted = _program_in_workspace((each.program for each in judged.commands), situation)
    reasons = list(_reasons(judged, planted, situation))
    if None in fitting:
        reasons.append("a glob in it matches too many files to check")
    if arguments.get("background"):
        reasons.append("it continues in the background")
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
        unclear=("command",) if reached.unclear else (),
        possible={"command": tuple(reached.possible)},
        mentions=tuple(islice(_mentioned_paths(reached, judged, situation), MOST_MENTIONS)),
        may_show=_may_show(judged, reached, situation),
    )


def _reasons(judged: Judgement, planted: str, situation: Situation) -> Iterator[str]:
    """Why the command needs approval."""
    if judged.why:
        yield judged.why
    if not situation.is_confined:
        note = str(getattr(situation.spawn, "note", ""))
        yield f"{OPEN} ({note})" if note else OPEN
    elif planted:
        yield f"the program {planted} is in the workspace"
    elif named := _named_by_repository(judged, situation):
        yield f"the settings of the repository name {named}, by which git may start programs"


def _program_in_workspace(programs: Iterable[str], situation: Situation) -> str:
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
    """Which setting of the repository lets git start programs, if git is called; "" otherwise."""
    calls_git = any(command.program == "git" for command in judged.commands)
    if not calls_git or not isinstance(situation.workspace, WorkspaceFiles):
        return ""
    return git.program_setting(situation.workspace, judged.folder)


def _files_for(pattern: str, situation: Situation) -> list[str] | None:
    """The files that a glob matches; None when that is unknown."""
    if not isinstance(situation.workspace, WorkspaceFiles):
        return None
    return files_fitting(situation.workspace, pattern)


def _only_reads(judged: Judgement) -> bool:
    """Whether other reading calls may run beside it. Commands after a lone `cd` must wait for it."""
    return judged.only_reads and any(command.program != "cd" for command in judged.commands)


# What denying rules look at


def _real_name(program: str, folder: str, situation: Situation) -> str:
    """The real name of a program that is given by its path: the last name of the link target."""
    root = getattr(situation.workspace, "root", "/")
    return os.path.basename(os.path.realpath(os.path.join(root, folder, program)))


def _mentioned_paths(reached: Reached, judged: Judgement, situation: Situation) -> Iterator[str]:
    """What may be a path in the words: each word, and its pieces (`if=x`, `HEAD:x`, `-fx`).

    For programs on the list it is known which words are paths, except for git, which has paths in
    other words too.
    """
    unknown = [each for each in judged.commands if each in judged.unlisted or each.program == "git"]
    if len(unknown) < len(judged.commands):
        reached = Reached()
        reached.add_commands(unknown)
    words = dict.fromkeys(word for each in reached.found for word in each[1:])
    pieces = dict.fromkeys(piece for word in words for piece in _pieces_of(word))
    yield from (join(judged.folder, piece) for piece in pieces)
    for piece in [piece for piece in pieces if _WILD.search(piece)][:MOST_GLOBS]:
        yield from _files_for(join(judged.folder, piece), situation) or ()


def _pieces_of(word: str) -> Iterator[str]:
    attached = [word[2:]] if word.startswith("-") else []
    yield from (piece for piece in (word, *_PIECES.split(word), *attached) if piece and "\0" not in piece)


def _may_show(judged: Judgement, reached: Reached, situation: Situation) -> str:
    """Why it may show files that it does not name; "" when the sandbox covers all denied files."""
    if not situation.is_confined:
        return "without a sandbox it can read files that it does not name"
    is_file = _file_test(judged.folder, situation)
    if reached.obscure or any(shows_content(words, is_file) for words in reached.found):
        return "it may show files from the history of a repository"
    return ""


def _file_test(folder: str, situation: Situation) -> Callable[[str], bool]:
    """A test whether a word names exactly one file of the workspace."""

    def is_file(path: str) -> bool:
        if path.startswith(":") or _WILD.search(path) or not isinstance(situation.workspace, WorkspaceFiles):
            return False
        try:
            return situation.workspace.kind(join(folder, path)) == "file"
        except OSError:
            return False

    return is_file


def files_fitting(workspace: WorkspaceFiles, pattern: str) -> list[str] | None:
    """The paths that a glob matches, and the glob itself, since bash keeps it where nothing matches.

    None when there are too many. A folder that cannot be opened stands for what is in it. Bash expands
    the glob again when the command runs; the sandbox decides what the command can reach then.
    """
    places, looked = ["/" if pattern.startswith("/") else ""], 0
    for part in pattern.split("/"):
        if not part:
            continue
        if "*" not in part and "?" not in part:
            places = [place + part + "/" for place in places]
            continue
        further: list[str] = []
        for place in places:
            try:
                names = [entry.name for entry in workspace.entries(place or ".")]
            except OSError:
                further.append(place)
                continue
            looked += len(names)
            if looked > MOST_NAMES:
                return None
            further += [f"{place}{name}/" for name in names if _fits(name, part)]
        places = further
    return [pattern, *(place.rstrip("/") or "/" for place in places)]


def _fits(name: str, part: str) -> bool:
    hidden = name.startswith(".") and not part.startswith(".")
    return not hidden and fnmatchcase(name, part)
