"""Git as we call it ourselves: what a repository says about how git should run is not heard.

A repository's settings can name programs that plain `git status` starts (a file watcher, a
pager, hooks, a signature checker). A folder is untrusted until the user says otherwise, so
our own calls switch all of these off, read no settings but the repository's, and take git
itself from the system.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

PLACES = ("/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/run/current-system/sw/bin/git")
SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.editor": "false",
    "credential.helper": "",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "gpg.program": "false",
    "log.showSignature": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C.UTF-8",
}
PATIENCE = 3.0
"""Seconds until a call of ours is given up."""
_DIFFS = frozenset(("diff", "log", "show", "whatchanged", "stash", "diff-tree", "diff-index", "diff-files"))


def command(*arguments: str, places: tuple[str, ...] = PLACES) -> list[str]:
    """The words of a git call of ours: `command("status", "--short")`; [] where there is no git."""
    git = next((place for place in places if os.access(place, os.X_OK)), "")
    if not git:
        return []
    settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    name, *rest = arguments
    plainly = ["--no-ext-diff", "--no-textconv"] if name in _DIFFS else []
    return [git, "--no-pager", *settings, name, *plainly, *rest]


def environment(source: Mapping[str, str]) -> dict[str, str]:
    """What git may know of our environment: no `GIT_` variable but ours."""
    kept = {name: source[name] for name in ("PATH", "HOME", "TZ") if name in source}
    return {**kept, **ENVIRONMENT}


def standing(folder: str, source: Mapping[str, str]) -> str:
    """Which branch a repository is on and how many files were changed; "" where it is none."""
    words = command("status", "--porcelain", "--branch", "--untracked-files=normal")
    alone = {"GIT_CEILING_DIRECTORIES": os.path.dirname(folder)}  # a repository further up is none of ours
    try:
        said = subprocess.run(
            words, cwd=folder, env={**environment(source), **alone}, capture_output=True, timeout=PATIENCE
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    first, *changed = said.stdout.decode(errors="replace").splitlines() or [""]
    branch = first.removeprefix("## ").partition("...")[0]
    return f"{branch}, {len(changed)} changed" if said.returncode == 0 and branch else ""


def muted() -> dict[str, str]:
    """Variables that say the same to a git that someone else calls, as far as variables can.

    What stays open: drivers that `.gitattributes` names, and an external diff, which can be put
    aside by a flag only. Whatever they start is held by the sandbox.
    """
    settings = {name: value for name, value in SETTINGS.items() if not name.startswith("diff.")}
    said = {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
    for at, (name, value) in enumerate(settings.items()):
        said |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return said
