"""Which files git ignores, and which match a glob: both by the same small matcher.

A pattern comes from the workspace, so it may be hostile. Components are matched one by one without
backtracking (leftmost match of each piece between two stars), and `**` with a table, so that a
pattern costs at most its length times the length of the path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

MAX_RULES = 2_000
NOISE = frozenset(
    (
        *(".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle", ".idea", ".DS_Store"),
    )
)


class IgnoreRule(Struct, frozen=True):
    """One line of a .gitignore."""

    parts: tuple[str, ...]
    anchored: bool
    folders_only: bool
    keeps: bool

    def matches(self, parts: Sequence[str], folder: bool) -> bool:
        if self.folders_only and not folder:
            return False
        return matches(self.parts, parts if self.anchored else parts[-1:])


def rules(text: str) -> list[IgnoreRule]:
    """The rules of a .gitignore, in order; the last that matches decides."""
    lines = (line.rstrip("\r") for line in text.split("\n")[:MAX_RULES])
    return [rule for line in lines if (rule := _rule_of(line))]


def _rule_of(line: str) -> IgnoreRule | None:
    if not line.strip() or line.startswith("#"):
        return None
    line = re.sub(r"(?<!\\) +\Z", "", line)
    keeps = line.startswith("!")
    line = line.removeprefix("!") if keeps else line
    body = line.rstrip("/")
    parts = tuple(part for part in body.split("/") if part)
    if not parts:
        return None
    return IgnoreRule(parts, "/" in body, line.endswith("/"), keeps)


def matches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the components of a path match those of a glob; `**` stands for any number of them."""
    reached = [True] + [False] * len(path)
    for at, part in enumerate(pattern):
        if part == "**":
            start = reached.index(True)
            last = at == len(pattern) - 1  # `a/**` means what is inside, not `a` itself
            reached = [place > start if last and at else place >= start for place in range(len(path) + 1)]
        else:
            fits = _component(part)
            reached = [False, *(before and fits(name) for before, name in zip(reached, path, strict=False))]
        if True not in reached:
            return False
    return reached[-1]


@lru_cache(4096)
def _component(part: str) -> Callable[[str], bool]:
    pieces = list(_patterns_between_stars(part))
    if len(pieces) == 1:
        whole = re.compile(pieces[0] + r"\Z", re.DOTALL).match
        return lambda name: whole(name) is not None
    first, *middle, last = pieces
    between = "".join(f"(?>.*?{piece})" for piece in middle if piece)
    regex = re.compile(f"{first}{between}.*{last}\\Z", re.DOTALL).match
    return lambda name: regex(name) is not None


def _patterns_between_stars(part: str) -> Iterator[str]:
    """The regular expressions between the stars of one component."""
    piece, at = "", 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "*":
            yield piece
            piece = ""
        elif character == "?":
            piece += "."
        elif (
            character == "["
            and (end := part.find("]", at + (2 if part[at : at + 1] in ("!", "^") else 1))) > 0
        ):
            piece += _class(part[at:end])
            at = end + 1
        elif character == "\\" and at < len(part):
            piece += re.escape(part[at])
            at += 1
        else:
            piece += re.escape(character)
    yield piece


def _class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    body = inside[1:] if negated else inside
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", body)
    text = f"[{'^' if negated else ''}{escaped}]"
    try:
        re.compile(text)
    except re.error:  # a range that runs backwards
        return re.escape(f"[{inside}]")
    return text


class Ignored:
    """Asks the .gitignore of each folder on the way to a path; `read` gives their text, or ""."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        self._rules: dict[str, list[IgnoreRule]] = {}

    def __call__(self, path: str, folder: bool) -> bool:
        """Whether this entry is left out. Ask for its folders first: below an ignored one all are."""
        parts = path.split("/")
        if parts[-1] in NOISE:
            return True
        verdict = False
        for depth in range(len(parts)):
            for rule in self._rules_in("/".join(parts[:depth])):
                if rule.matches(parts[depth:], folder):
                    verdict = not rule.keeps
        return verdict

    def _rules_in(self, folder: str) -> list[IgnoreRule]:
        if folder not in self._rules:
            self._rules[folder] = rules(self._read(f"{folder}/.gitignore" if folder else ".gitignore"))
        return self._rules[folder]


def glob(pattern: str) -> Callable[[str], bool]:
    """A test for paths: `*.py` by name anywhere, `src/**/*.ts` by place, `{a,b}` for either."""
    options = [option.strip("/").split("/") for option in _braces(pattern)]

    def fits(path: str) -> bool:
        parts = path.split("/")
        return any(matches(option, parts if len(option) > 1 else parts[-1:]) for option in options)

    return fits


def _braces(pattern: str, limit: int = 64) -> list[str]:
    """`*.{ts,tsx}` as its alternatives; not nested."""
    found = [pattern]
    for _ in range(8):
        opened = [option for option in found if re.search(r"\{[^{}]*\}", option)]
        if not opened or len(found) > limit:
            return found
        found = [option for option in found if option not in opened]
        for option in opened:
            before, inside, after = re.split(r"\{([^{}]*)\}", option, maxsplit=1)
            found += [before + choice + after for choice in inside.split(",")]
    return found
