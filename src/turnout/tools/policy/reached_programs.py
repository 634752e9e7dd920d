"""Which programs a command starts in the end: through `env`, `xargs`, `sh -c`, `find -exec` and others.

A rule that denies `rm *` means the program, however it is started. So such rules also see a command
without its path, without the wrappers before it, and as the line that its words give to a shell.
This only adds to what is denied; it never makes a command harmless. What cannot be seen (code for an
interpreter, commands that come through a pipe) sets `unclear`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from posixpath import basename

from .shell_words import Doubt, ShellCommand, plain_commands, visible_commands

DEEPEST = 6  # one program that starts another that starts another
MOST = 200  # commands that are shown to rules
MOST_READ = 24_000  # characters of lines that are read; each line counts for a few more

# Programs that run the command behind their own flags, and how many other words may stand before it.
WRAPPERS = {
    **dict.fromkeys(
        (
            *("builtin", "busybox", "catchsegv", "command", "dbus-run-session", "doas", "eatmydata", "env"),
            *(
                "exec",
                "fakeroot",
                "firejail",
                "gdb",
                "ionice",
                "ltrace",
                "nice",
                "nohup",
                "nsenter",
                "numactl",
            ),
            *("parallel", "perf", "pkexec", "prlimit", "proxychains", "proxychains4", "rlwrap", "runuser"),
            *("setarch", "setpriv", "setsid", "stdbuf", "strace", "sudo", "systemd-run", "time", "tini"),
            *("torsocks", "toybox", "unbuffer", "unshare", "valgrind", "watch", "xargs", "xvfb-run"),
        ),
        0,
    ),
    **dict.fromkeys(("chroot", "chrt", "faketime", "flock", "ssh", "su", "taskset", "timeout"), 1),
}
APPENDING = frozenset(("xargs", "parallel"))  # they append their input to the words
SHELLS = frozenset(["ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"])
TEXT_FLAGS = {
    "env": ("-S", "--split-string"),
    **dict.fromkeys(("su", "runuser", "script", "flock"), ("-c", "--command")),
}
RUNS_TEXT = frozenset(("eval", "watch", "ssh", "parallel", "trap"))  # whose words a shell reads again
STARTING_FLAGS = {
    **dict.fromkeys(("find", "gfind"), ("-exec", "-execdir", "-ok", "-okdir")),
    **dict.fromkeys(("fd", "fdfind"), ("-x", "-X", "--exec", "--exec-batch")),
}
# Interpreters, and the flags by which they are given code in a word.
INTERPRETERS = {
    **dict.fromkeys(("python", "pypy"), ("-c",)),
    **dict.fromkeys(
        ("perl", "ruby", "lua", "node", "nodejs", "deno", "bun", "Rscript"),
        ("-e", "-E", "--eval", "-p", "--print"),
    ),
    "php": ("-r",),
}
_AWK = frozenset(("awk", "gawk", "mawk", "nawk"))
_STARTS_FROM_AWK = re.compile(r"system|getline|\|")
_GIT_VALUES = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix")
)
_NO_PROGRAM = re.compile(r"-.*|[A-Za-z_]\w*\+?=.*|[\d.]+[a-z]?", re.DOTALL)

Words = tuple[str, ...]
Resolve = Callable[[str], str]


class Reached:
    """The commands that a line starts. `unclear`: there may be more that cannot be seen.

    `obscure`: there is a command whose program itself is unknown (`$x`, `$(…)`).
    """

    def __init__(self, resolve: Resolve = lambda program: "") -> None:
        """`resolve` gives the real name of a program that is named by its path, or ""."""
        self.found: dict[Words, None] = {}
        self.unclear = False
        self.obscure = False
        self._resolve = resolve
        self._left = MOST_READ

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(shlex.join(words) for words in self.found)

    def add_line(self, line: str, depth: int = 0) -> None:
        """Add a whole line; if it is not plain, the commands that can be seen in it."""
        self._left -= len(line) + 400
        if self._left < 0:
            self.unclear = self.obscure = True
            return
        seen = plain_commands(line)
        if isinstance(seen, Doubt):
            self.add_doubtful(line, seen.too_much, depth)
        else:
            self.add_commands(seen, depth)

    def add_doubtful(self, line: str, too_much: bool = False, depth: int = 0) -> None:
        """Add the commands that can be seen in a line that is not plain."""
        found = visible_commands(line)
        self.unclear = True
        self.obscure |= too_much or any("$" in words[0] or "`" in words[0] for words in found)
        for words in found:
            self.add(words, depth)

    def add_commands(self, found: Sequence[ShellCommand], depth: int = 0) -> None:
        """Add the commands of a plain line."""
        for command in found:
            piped = command.joint == "|" and basename(command.program) in SHELLS
            self.unclear |= piped and len(command.words) == 1
            self.add(command.words, depth)

    def add(self, words: Sequence[str], depth: int = 0) -> None:
        """Add one command, under every name of its program, and all that it starts."""
        if not words or depth > DEEPEST or len(self.found) > MOST:
            self.unclear |= bool(words)
            return
        for name in self._names(words[0]):
            known = (name, *words[1:])
            if known not in self.found:
                self.found[known] = None
                self._add_started(known, depth + 1)

    def _names(self, program: str) -> Iterator[str]:
        """A program as written, by its last name, by the name of its link target, and in lower case."""
        names = [program]
        if "/" in program:
            names += [basename(program), self._resolve(program)]
        yield from dict.fromkeys(form for name in names if name for form in (name, name.lower()))

    def _add_started(self, words: Words, depth: int) -> None:
        name, rest = words[0], words[1:]
        if name == "git":
            self.add(("git", *_without_global_flags(rest)), depth)
        if name in WRAPPERS:
            for command in _wrapped_commands(rest, WRAPPERS[name]):
                self.add((*command, "{}") if name in APPENDING else command, depth)
        for flag in STARTING_FLAGS.get(name, ()):
            for command in _after_flag(rest, flag):
                self.add(command if "{}" in command else (*command, "{}"), depth)
        for text in _shell_texts(name, rest):
            self.add_line(text, depth)
        self.unclear |= _runs_code(name, rest)


def _wrapped_commands(words: Words, others: int) -> Iterator[Words]:
    """What may be the command of a wrapper: the words from the first that can be a program.

    The value of a flag may look like one. Such a word counts as both.
    """
    for at, word in enumerate(words):
        if _NO_PROGRAM.fullmatch(word):
            others -= bool(others and not word.startswith("-") and "=" not in word)
            continue
        yield words[at:]
        after_flag = at > 0 and words[at - 1].startswith("-") and "=" not in words[at - 1]
        if not after_flag and not others:
            return
        others -= bool(others and not after_flag)


def _after_flag(words: Words, flag: str) -> Iterator[Words]:
    """The commands of `find -exec … ;`: from the flag to its end."""
    for at, word in enumerate(words):
        if word == flag:
            end = next((to for to in range(at + 1, len(words)) if words[to] in (";", "\\;", "+")), len(words))
            yield words[at + 1 : end]


def _shell_texts(name: str, words: Words) -> Iterator[str]:
    """The words that a shell reads as a line."""
    if name in SHELLS:
        for at, word in enumerate(words):
            if re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", word):
                yield from (text for text in words[at + 1 :] if not text.startswith("-"))
                return
    for flag in TEXT_FLAGS.get(name, ()):
        for at, word in enumerate(words):
            if word == flag:
                yield from words[at + 1 : at + 2]
            elif word.startswith((f"{flag}=", flag)) and word != flag:
                yield word.removeprefix(flag).removeprefix("=")
    if name in RUNS_TEXT:
        yield " ".join(words)
        yield from words


def _runs_code(name: str, words: Words) -> bool:
    flags = INTERPRETERS.get(name.rstrip("0123456789."), ())
    if any(word.startswith(flag) for word in words for flag in flags):
        return True
    return name in _AWK and any(_STARTS_FROM_AWK.search(word) for word in words)


def _without_global_flags(words: Words) -> Words:
    """What git is to do, without the flags before it."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GIT_VALUES else 1
    return words[at:]
