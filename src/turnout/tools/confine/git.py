"""The facts of a repository, read without git; and what git may not do when a command runs it.

A folder's own settings can name programs that plain `git status` starts: filters, watchers, hooks,
diff drivers, anything that an included file adds. We do not start git ourselves, so looking at a
folder runs nothing of it. Commands may call git: where one runs without approval, variables tell git
to start nothing (`quiet_variables`). If the settings of a repository name programs that no variable
can switch off, the user is asked (`program_setting`).
"""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath

from .workspace import WorkspaceFiles

SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.editor": "false",
    "credential.helper": "",
    # Git clears its variables for what it starts inside a submodule, so it must not enter one.
    "diff.ignoreSubmodules": "dirty",
    "diff.submodule": "short",
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "log.showSignature": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
}
LARGEST = 256 * 1024  # bytes of a file of settings
_MOST_HOPS = 5  # from one file that names another folder to the next

_BRANCH = "ref: refs/heads/"
_HASH = re.compile(r"[0-9a-f]{40,64}")
_KEY = r"(?:^|\])\s*"  # a setting begins a line, or follows the name of its section
# Git reads the names of sections and settings without regard to case, and takes no escapes in them.
_PROGRAMS = {
    kind: re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for kind, pattern in {
        "a filter": r"\[filter[\s.]",
        "a diff driver": r"\[diff[\s.]",
        "an external diff": rf"{_KEY}external\b",
        "another file of settings": rf"\[include(?:if)?[\s.\]]|{_KEY}worktreeConfig\b",
        "submodules to look into": rf"{_KEY}ignore\b",
    }.items()
}


def branch(workspace: WorkspaceFiles) -> str:
    """The branch of the repository at the top of a workspace, or the commit it stands at; "" without one."""
    folder = _git_folder(workspace, ".")
    head = (_text_of(workspace, join(folder, "HEAD")) or "").strip() if folder else ""
    if head.startswith(_BRANCH):
        return head.removeprefix(_BRANCH)
    return f"no branch, at {head[:12]}" if _HASH.fullmatch(head) else ""


def program_setting(workspace: WorkspaceFiles, folder: str) -> str:
    """What in the settings of the repository around a folder has git start programs; "" if nothing does."""
    top = _top(workspace, folder)
    git = _git_folder(workspace, top) if top is not None else ""
    if top is None or not git:
        return ""
    shared = normpath(join(git, (_text_of(workspace, join(git, "commondir")) or ".").strip()))
    for path in (join(git, "config"), join(shared, "config"), join(top, ".gitmodules")):
        if (text := _text_of(workspace, path)) is None:
            return "what cannot be read"
        for kind, pattern in _PROGRAMS.items():
            if pattern.search(text):
                return kind
    return ""


def quiet_variables() -> dict[str, str]:
    """Variables that keep git from starting what a repository names, as far as variables can.

    Not covered: drivers that `.gitattributes` names, and an external diff, which only a flag can
    switch off. `program_setting` finds those, and the sandbox confines what they start.
    """
    variables = {"GIT_CONFIG_COUNT": str(len(SETTINGS)), "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
    for at, (name, value) in enumerate(SETTINGS.items()):
        variables |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return variables


def _top(workspace: WorkspaceFiles, folder: str) -> str | None:
    """The nearest folder from here upwards that has a `.git`; None where there is none."""
    place = workspace.identity(folder)
    while not place.startswith(("/", "..")):
        if _kind_at(workspace, join(place, ".git")):
            return place
        if place == ".":
            return None
        place = dirname(place) or "."
    return None


def _git_folder(workspace: WorkspaceFiles, top: str) -> str:
    """Where the repository of a folder is kept: `.git`, or the place that a file of that name gives."""
    folder = normpath(join(top, ".git"))
    for _ in range(_MOST_HOPS):
        match _kind_at(workspace, folder):
            case "directory":
                return folder
            case "file":
                named = (_text_of(workspace, folder) or "").partition("gitdir:")[2].strip()
                folder = normpath(join(dirname(folder), named)) if named else ""
            case _:
                return ""
    return ""


def _kind_at(workspace: WorkspaceFiles, path: str) -> str:
    try:
        return workspace.kind(path)
    except OSError:
        return ""


def _text_of(workspace: WorkspaceFiles, path: str) -> str | None:
    """A file's text, "" where there is none; None when it is there and cannot be read."""
    try:
        return workspace.read(path, LARGEST)[0].decode(errors="replace")
    except FileNotFoundError:
        return ""
    except OSError:
        return None
