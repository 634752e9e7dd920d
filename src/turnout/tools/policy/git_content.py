"""Which git commands print the content of files: the history holds a copy of every file that was ever in it.

The sandbox can cover a file, but not its copies in the history. So where rules deny files, these
commands need approval, unless they name the files that they show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

# Commands that only show names, commits and references.
NAMES_ONLY = frozenset(
    (
        *("branch", "check-attr", "check-ignore", "check-mailmap", "config", "count-objects", "describe"),
        *("for-each-ref", "help", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "remote"),
        *("rev-list", "rev-parse", "shortlog", "show-branch", "show-ref", "symbolic-ref", "tag", "var"),
        *("version", "worktree"),
    )
)
# Commands that show lines of files only with some flags, and these flags.
_PATCH_FLAGS = (
    *("-p", "-u", "-U", "-S", "-G", "-L", "-c", "-m", "-W", "--patch", "--unified", "--cc", "--word-diff"),
    *("--color-words", "--function-context", "--diff-merges", "--remerge-diff", "--binary", "--text"),
)
SHOWING = {
    "status": ("-v", "--verbose"),
    **dict.fromkeys(("log", "whatchanged", "reflog"), _PATCH_FLAGS),
}
# Commands that show lines of files unless a flag says to sum them up.
SUMMED = frozenset(("diff", "diff-files", "diff-index", "diff-tree"))
SUMMARIES = frozenset(
    (
        *("--stat", "--shortstat", "--numstat", "--dirstat", "--summary", "--name-only", "--name-status"),
        *("--no-patch", "-s", "--quiet", "--raw"),
    )
)


def shows_content(words: Sequence[str], is_file: Callable[[str], bool]) -> bool:
    """Whether a command may print lines of files that it does not name."""
    if len(words) < 2 or words[0] != "git" or words[1].startswith("-"):
        return False
    command, rest = words[1], list(words[2:])
    if command == "stash" and rest[:1] == ["list"]:
        command, rest = "log", rest[1:]
    if any("%(raw" in word for word in rest):  # of a reference to a file: all of it
        return True
    if any("$" in word or "`" in word or word == "{}" for word in rest):  # it may be any flag
        return True
    return _is_about_files(command, rest) and not _is_limited(rest, is_file)


def _is_about_files(command: str, words: Sequence[str]) -> bool:
    if command in NAMES_ONLY or command in ("blame", "annotate"):  # these name their file
        return False
    if command in ("show", "cat-file"):
        return not _are_named_by_path(words)
    if command in SHOWING:
        return any(word.startswith(SHOWING[command]) for word in words)
    shows_lines = any(word.startswith(_PATCH_FLAGS) for word in words)
    return command not in SUMMED or shows_lines or SUMMARIES.isdisjoint(words)


def _are_named_by_path(words: Sequence[str]) -> bool:
    """Whether every object is named by its path: `HEAD:src/a.py`."""
    objects = [word for word in words if not word.startswith("-")]
    return bool(objects) and all(":" in word and not word.startswith(":") for word in objects)


def _is_limited(words: Sequence[str], is_file: Callable[[str], bool]) -> bool:
    """Whether there are paths behind `--`, and each is one file."""
    paths = words[words.index("--") + 1 :] if "--" in words else []
    return bool(paths) and "--follow" not in words and all(map(is_file, paths))
