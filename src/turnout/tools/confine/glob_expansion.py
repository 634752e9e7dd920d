"""What a glob in a command stands for, told before the command runs: so that each file can be judged.

Bash expands it again, and later. That is no more than for any path that a command names: what
it can reach is decided by the sandbox.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from .workspace import WorkspaceFiles

MOST = 2_000  # names that are looked at


def files_fitting(workspace: WorkspaceFiles, pattern: str) -> list[str] | None:
    """The paths that a glob fits, itself among them, as bash leaves it where there are none.

    None when there are too many to look at. A folder that cannot be opened stands for what is
    in it.
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
            if looked > MOST:
                return None
            further += [f"{place}{name}/" for name in names if _fits(name, part)]
        places = further
    return [pattern, *(place.rstrip("/") or "/" for place in places)]


def _fits(name: str, part: str) -> bool:
    hidden = name.startswith(".") and not part.startswith(".")
    return not hidden and fnmatchcase(name, part)
