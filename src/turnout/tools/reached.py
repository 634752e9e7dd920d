"""Which programs a command comes to in the end: through `env`, `xargs`, `sh -c`, `find -exec` and the like.

A rule that denies `rm *` means the program, however it is reached. So a command is also shown
to such rules without its path, without what stands before it, and as what its words have a
shell run. This only adds to what is denied; nothing becomes harmless by it. What cannot be
told (code for an interpreter, commands that come by a pipe) is said to be untold.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from posixpath import basename

from .embedded_commands import MOST as MOST_EMBEDDED
from .embedded_commands import PIPED, embedded_commands
from .shell_words import Command, Doubt, commands, glimpsed

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
            *("parallel", "pkexec", "prlimit", "proxychains", "proxychains4", "rlwrap", "runuser"),
            *("setpriv", "setsid", "stdbuf", "strace", "sudo", "systemd-run", "time", "tini"),
            *("torsocks", "toybox", "unbuffer", "unshare", "valgrind", "watch", "xargs", "xvfb-run"),
            *("bunx", "catatonit", "choom", "chronic", "cpulimit", "dumb-init", "i386", "linux32", "linux64"),
            *("npx", "sem", "uclampset", "uname26", "uvx", "x86_64"),
        ),
        0,
    ),
    **dict.fromkeys(("chroot", "chrt", "faketime", "flock", "ssh", "su", "taskset", "timeout"), 1),
    **dict.fromkeys(("gosu", "perf", "setarch", "su-exec"), 1),
}
APPENDING = frozenset(("xargs", "parallel"))  # what they are piped comes behind the words
SHELLS = frozenset(["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"])
TEXT_FLAGS = {
    "env": ("-S", "--split-string"),
    **dict.fromkeys(("su", "runuser", "script", "flock", "sg", "fish"), ("-c", "--command")),
}
RUNS_TEXT = frozenset(("eval", "watch", "ssh", "parallel", "sg", "trap"))  # whose words a shell reads again
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
_JOINED_CODE = {"python": re.compile(r"-[A-Za-z]*c"), "pypy": re.compile(r"-[A-Za-z]*c")}
_JOINED_CODE_ELSE = re.compile(r"-[A-Za-z0-9]*[eE]")  # perl -we, node -pe
_SHOWS_ITSELF = frozenset(("--version", "-V", "-v", "--help", "-h"))
_LOADER = re.compile(r"ld(?:-[\w.-]+)?\.so(?:\.\d+)*")
_NAMELESS = re.compile(r"[^\w.:\[(!]+")  # of which nothing but a placeholder is seen: {}, %
_QUOTING = re.compile(r"[\\'\"\n]")
_MAY_CALL_GIT = re.compile(r"git|[$`*?\[{]|\b(?:sh|bash|eval|source|python\w*|perl)\b", re.IGNORECASE)
_AWK = frozenset(("awk", "gawk", "mawk", "nawk"))
_STARTS_FROM_AWK = re.compile(r"system|getline|\|")
_GIT_VALUES = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix")
)
_NO_PROGRAM = re.compile(r"-.*|[A-Za-z_]\w*\+?=.*|[\d.]+[a-z]?", re.DOTALL)

Words = tuple[str, ...]
Resolve = Callable[[str], str]


class Reached:
    """The commands that a line comes to, and whether there may be more that nobody can tell.

    `obscure`: there is a command of which not even the program can be told (`$x`, `$(…)`).
    """

    def __init__(self, resolve: Resolve = lambda program: "") -> None:
        """`resolve` gives the real name of a program that is named by its path, or ""."""
        self.found: dict[Words, None] = {}
        self.possible: dict[str, None] = {}  # commands that may be among the words of others
        self.untold = False
        self.obscure = False
        self._resolve = resolve
        self._left = MOST_READ

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(shlex.join(words) for words in self.found)

    def add_line(self, line: str, depth: int = 0) -> None:
        """A whole line; of one that is not plain whatever can be seen of it."""
        self._left -= len(line) + 400
        if self._left < 0:
            self.untold = self.obscure = True
            return
        seen = commands(line)
        if isinstance(seen, Doubt):
            self.add_doubtful(line, seen.too_much, depth)
        else:
            self.add_commands(seen, depth)

    def add_doubtful(self, line: str, too_much: bool = False, depth: int = 0) -> None:
        """What can be seen of a line that is not plain."""
        found = glimpsed(line)
        self.untold = True
        self.obscure |= too_much or any("$" in words[0] or "`" in words[0] for words in found)
        self.obscure |= not found and _MAY_CALL_GIT.search(_QUOTING.sub("", line)) is not None
        for words in found:
            self.add(words, depth)

    def add_commands(self, found: Sequence[Command], depth: int = 0) -> None:
        """The commands of a plain line."""
        for command in found:
            self.untold |= command.joint == "|" and basename(command.program) in PIPED
            self.add(command.words, depth)

    def add(self, words: Sequence[str], depth: int = 0) -> None:
        """One command, under every name of its program, and all that it starts."""
        if not words or depth > DEEPEST or len(self.found) > MOST:
            self.untold |= bool(words)
            return
        if _NAMELESS.fullmatch(words[0]):
            self.untold = self.obscure = True
        for name in self._names(words[0]):
            known = (name, *words[1:])
            if known not in self.found:
                self.found[known] = None
                self._add_started(known, depth + 1)

    def _names(self, program: str) -> Iterator[str]:
        """A program as written, by its last name, by the name of what a link leads to, in small letters."""
        names = [program]
        if "/" in program:
            names += [basename(program), self._resolve(program)]
        yield from dict.fromkeys(form for name in names if name for form in (name, name.lower()))

    def _add_started(self, words: Words, depth: int) -> None:
        name, rest = words[0], words[1:]
        if name == "git":
            self.add(("git", *_without_global_flags(rest)), depth)
        if name in WRAPPERS:
            for command in _behind(rest, WRAPPERS[name]):
                self.untold |= name in APPENDING and _is_replaced(command[0], rest)
                self.add((*command, "{}") if name in APPENDING else command, depth)
        for flag in STARTING_FLAGS.get(name, ()):
            for command in _after_flag(rest, flag):
                self.add(command if "{}" in command else (*command, "{}"), depth)
        if _LOADER.fullmatch(name):
            self.add(rest, depth)
        for text in _texts(name, rest):
            self.add_line(text, depth)
        self.untold |= _runs_code(name, rest) or _reads_commands(name, rest)
        self._add_embedded(name, rest)

    def _add_embedded(self, name: str, words: Words) -> None:
        found = tuple(islice(embedded_commands(name, words), 4 * MOST_EMBEDDED + 1))
        self.untold |= len(found) > 4 * MOST_EMBEDDED
        self.possible.update(dict.fromkeys(found))


def _behind(words: Words, others: int) -> Iterator[Words]:
    """What may be the command of a wrapper: the words from the first on that can be a program.

    The value of a flag may look like one. Such a word is taken for both.
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


def _texts(name: str, words: Words) -> Iterator[str]:
    """What of the words is a line for a shell."""
    if name in SHELLS:
        for at, word in enumerate(words):
            if re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", word):
                yield from (text for text in words[at + 1 :] if not text.startswith("-"))
                return
    for flag in TEXT_FLAGS.get(name, ()):
        joined = re.compile(
            rf"-[A-Za-z0-9]*?{flag[1:]}(.*)" if len(flag) == 2 else f"{flag}=?(.*)", re.DOTALL
        )
        for at, word in enumerate(words):
            if given := joined.fullmatch(word):
                yield from (given[1].removeprefix("="),) if given[1] else words[at + 1 : at + 2]
    if name in RUNS_TEXT:
        yield " ".join(words)
        yield from words


def _runs_code(name: str, words: Words) -> bool:
    kind = name.rstrip("0123456789.")
    flags = INTERPRETERS.get(kind, ())
    joined = _JOINED_CODE.get(kind, _JOINED_CODE_ELSE)
    if flags and any(word.startswith(flags) or joined.match(word) for word in words):
        return True
    return name in _AWK and any(_STARTS_FROM_AWK.search(word) for word in words)


def _reads_commands(name: str, words: Words) -> bool:
    """Whether a shell or an interpreter is given no file and so takes what it is piped."""
    if name not in SHELLS and name.rstrip("0123456789.") not in INTERPRETERS:
        return False
    operands = [word for word in words if not word.startswith("-")]
    piped = not operands or "-s" in words or operands[0].startswith(("/dev/", "/proc/"))
    return piped and _SHOWS_ITSELF.isdisjoint(words)


def _is_replaced(program: str, words: Words) -> bool:
    """Whether the program is what `xargs -I X` puts another word in place of."""
    return any(
        word == f"-I{program}" or (words[at - 1 : at] == ("-I",) and word == program)
        for at, word in enumerate(words)
    )


def _without_global_flags(words: Words) -> Words:
    """What git is to do, without the flags before it."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GIT_VALUES else 1
    return words[at:]
