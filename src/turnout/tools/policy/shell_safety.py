"""Whether a command only reads: plain words, known programs, allowed flags, and nothing else.

    judge("git log --oneline | head -5")  ->  read
    judge("git log --output=x")           ->  risky, "git log: --output=x is not known to only read"

A line has the highest risk of its parts. What cannot be judged is risky, never less. This decides
when to ask. The sandbox decides what a command can do, and keeps commands that only read from
writing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import join

from msgspec import Struct

from ..declare.tool import RISKS, Risk
from .programs import DANGEROUS, MANY, PROGRAMS, Program
from .shell_words import Doubt, ShellCommand, plain_commands

_NUMBER = re.compile(r"[+-]?\d{1,12}[a-zA-Z]?")
_DIGITS = re.compile(r"-\d{1,9}")
_UP_AGAIN = re.compile(r"(?:^|/)(?!\.{1,2}(?:/|$))[^/]+/(?:.*/)?\.\.(?:/|$)")


class Judgement(Struct, frozen=True):
    """What a line would do. `commands` is empty when the line is not plain.

    `paths` are the paths it names, relative to the workspace and as they are written: only the kernel
    knows where `..` leads behind a link. `globs` are patterns: only the file system knows what they
    match. `unlisted` are commands whose effects are unknown. `folder` is where they run, after a
    `cd`. `why` is the reason for the risk.
    """

    risk: Risk
    why: str = ""
    commands: tuple[ShellCommand, ...] = ()
    paths: tuple[str, ...] = ()
    too_much: bool = False
    folder: str = "."
    globs: tuple[str, ...] = ()
    unlisted: tuple[ShellCommand, ...] = ()

    @property
    def only_reads(self) -> bool:
        return self.risk == "read"


class _NotKnownSafe(Exception):
    """A command that is not known to be harmless."""


class _Glob(str):
    """A word that stands for the files that match it."""


def judge_line(line: str, folder: str = ".") -> Judgement:
    """The risk of a line that would run in `folder` of the workspace."""
    found = plain_commands(line)
    if isinstance(found, Doubt):
        return Judgement("risky", found.why, too_much=found.too_much, folder=folder)
    risks: list[Risk] = []
    reasons: list[str] = []
    paths: list[str] = []
    globs: list[str] = []
    unlisted: list[ShellCommand] = []
    for at, command in enumerate(found):
        try:
            risk, named = _judge_command(command)
            if command.program == "cd":
                folder, named = _folder_after_cd(found, at, folder, named)
            risks.append(risk)
            paths += [join(folder, path) for path in named if not isinstance(path, _Glob)]
            globs += [join(folder, path) for path in named if isinstance(path, _Glob)]
        except _NotKnownSafe as no:
            risks.append("dangerous" if command.program in DANGEROUS else "risky")
            reasons.append(str(no))
            unlisted.append(command)
    return Judgement(
        max(risks, key=RISKS.index),
        "; ".join(reasons[:3]),
        found,
        tuple(dict.fromkeys(paths)),
        folder=folder,
        globs=tuple(dict.fromkeys(globs)),
        unlisted=tuple(unlisted),
    )


def _folder_after_cd(
    found: Sequence[ShellCommand], at: int, folder: str, named: list[str]
) -> tuple[str, list[str]]:
    """Where a `cd` leads. Only the first command may be one, and the rest must depend on it."""
    last = len(found) == 1
    if at or len(named) != 1 or named[0] == "-" or not (last or found[1].joint == "&&"):
        raise _NotKnownSafe("cd can be judged only as `cd FOLDER && …`")
    if _UP_AGAIN.search(named[0]):  # behind a link, `..` is one place to bash and another to the kernel
        raise _NotKnownSafe("cd can be judged only without `..` behind a name")
    return join(folder, named[0]), ["."]


def _judge_command(command: ShellCommand) -> tuple[Risk, list[str]]:
    """The risk of one command and the paths it names; raises when its list does not cover it."""
    name, words = (
        command.program,
        [_Glob(word) if at in command.globs else word for at, word in enumerate(command.words)],
    )
    del words[0]
    described = PROGRAMS.get(name)
    if described is None:
        raise _NotKnownSafe(f"{name[:60]} is not among the programs known to only read")
    if name == "git" and words[:1] == ["--no-pager"]:
        del words[0]
    while words and words[0] in described.commands:
        name, described = f"{name} {words[0]}", described.commands[words.pop(0)]
    if not described.alone and described.flags.isdisjoint(words):
        raise _NotKnownSafe(f"{name} is not known to only read")
    if described.bare:
        if command.globs:
            raise _NotKnownSafe(f"{name}: a glob stands where a path cannot")
        return described.risk, []
    return described.risk, list(_Reading(name, described).paths(words))


class _Reading:
    """The words of one command, compared with the list of its program."""

    def __init__(self, name: str, described: Program) -> None:
        self.name, self.described = name, described
        self.operands: list[str] = []
        self.values: list[str] = []  # paths that flags were given
        self.texts = described.texts

    def paths(self, words: list[str]) -> Iterator[str]:
        """The words that name paths."""
        waiting = iter(words)
        for word in waiting:
            if word == "--" and not self.described.single_dash:
                self.operands += self._operands_after_dashes(waiting)
            elif word.startswith("-") and word != "-":
                self._read_flag(word, waiting)
            else:
                self.operands.append(word)
        self._check_operands()
        yield from self.values
        yield from self.operands[self.texts :]

    def _operands_after_dashes(self, words: Iterator[str]) -> list[str]:
        """Behind `--` all are operands; but some programs still read one that looks like a flag as a flag."""
        rest = list(words)
        if odd := next((word for word in rest if word.startswith("-") and word != "-"), None):
            raise self._unknown_word(odd)
        return rest

    def _check_operands(self) -> None:
        if len(self.operands) > self.described.operands:
            raise _NotKnownSafe(f"{self.name}: {self.operands[-1][:60]!r} is one operand too many")
        if any(isinstance(word, _Glob) for word in self.operands):
            self._check_globs()
        if self.described.words:
            for word in self.operands:
                if not re.fullmatch(self.described.words, word, re.DOTALL):
                    raise self._unknown_word(word)
        for text in self.operands[: self.texts]:
            if self.described.avoids and re.search(self.described.avoids, text):
                raise self._unknown_word(text)
            self._check_script(text)

    def _check_globs(self) -> None:
        """A glob may stand for many words, so it must be where any number of paths may be."""
        texts, paths = (
            self.operands[: self.texts],
            self.described.operands == MANY and not self.described.words,
        )
        if not paths or any(isinstance(word, _Glob) for word in texts):
            raise _NotKnownSafe(f"{self.name}: a glob stands where a list of paths cannot")

    def _check_script(self, text: str) -> None:
        if self.described.script and not re.fullmatch(self.described.script, text):
            raise self._unknown_word(text)

    def _read_flag(self, word: str, waiting: Iterator[str]) -> None:
        flags, takes = self.described.flags, self.described.takes
        if word.partition("=")[0] in self.described.texts_by:
            self.texts = 0
        if word in flags or (self.described.digits and _DIGITS.fullmatch(word)):
            return
        if word in takes:
            self._read_value(word, next(waiting, None))
        elif word.startswith("--") and "=" in word and word.partition("=")[0] in takes:
            name, _, value = word.partition("=")
            if isinstance(word, _Glob) and takes[name] != "text":
                raise self._unknown_word(word)
            self._read_value(name, value, attached=True)
        elif word.startswith("--") or self.described.single_dash:
            raise self._unknown_word(word)
        else:
            self._read_short_flags(word, waiting)

    def _read_short_flags(self, word: str, waiting: Iterator[str]) -> None:
        """Short flags in one word: `-la`, `-n5`, `-rnA 3`."""
        for at, letter in enumerate(word[1:], 2):
            flag = f"-{letter}"
            if flag in self.described.texts_by:
                self.texts = 0
            if flag in self.described.takes:
                rest = word[at:]
                self._read_value(flag, rest or next(waiting, None), attached=bool(rest))
                return
            if flag not in self.described.flags:
                raise self._unknown_word(word)

    def _read_value(self, flag: str, value: str | None, attached: bool = False) -> None:
        """A value may not look like a flag: if our list is wrong about the flag, it would be one."""
        kind = self.described.takes[flag]
        if value is None:
            raise _NotKnownSafe(f"{self.name}: {flag} needs a value")
        if isinstance(value, _Glob):
            raise _NotKnownSafe(f"{self.name}: a glob stands where {flag} takes a value")
        if kind == "number" and not _NUMBER.fullmatch(value):
            raise _NotKnownSafe(f"{self.name}: {flag} takes a number, not {value[:40]!r}")
        if kind != "number" and value.startswith("-") and not attached:
            raise self._unknown_word(value)
        if kind == "script":
            self._check_script(value)
        if kind == "path":
            self.values.append(value)

    def _unknown_word(self, word: str) -> _NotKnownSafe:
        return _NotKnownSafe(f"{self.name}: {word[:60]} is not known to only read")
