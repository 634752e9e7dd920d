"""A command line as plain words, or the reason for doubt about it.

We read words, quoted words and the joints `|`, `&&`, `||`, `;` and line ends. We also read what
cannot change the words: redirects to nowhere (`2>/dev/null`, `2>&1`), words joined from parts
(`--include='*.py'`), and globs with a plain beginning (`src/*.py`): such a glob never becomes a flag,
since what it matches begins as it does. Everything else (expansions, other redirects,
substitutions, assignments, keywords) is a doubt, also when it would be harmless.

A line is read twice: by a real parser (tree-sitter-bash) and by a small reader of our own. Both must
see the same words, so a fault in one of them leads to a doubt and not to a way around the policy.
Without the parser every line is a doubt.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct

LONGEST = 8_000  # characters
MOST = 32  # commands in one line
JOINTS = ("|", "&&", "||", ";")
RESERVED = frozenset(
    (
        *("if", "then", "elif", "else", "fi", "time", "for", "in", "until", "while", "do", "done", "case"),
        *("esac", "coproc", "select", "function", "{", "}", "!", "[[", "]]"),
    )
)


class ShellCommand(Struct, frozen=True):
    """One command: its words, and the joint before it ("" for the first).

    `globs` are the positions of words that stand for the files that match them.
    """

    words: tuple[str, ...]
    joint: str = ""
    globs: tuple[int, ...] = ()

    @property
    def program(self) -> str:
        return self.words[0]

    @property
    def text(self) -> str:
        """The command as it could be typed, quoted where necessary, so that no word looks like two."""
        return shlex.join(self.words)


class Doubt(Struct, frozen=True):
    """Why a line is not plain; `too_much` when it is too long to be read."""

    why: str
    too_much: bool = False


class _NotPlain(Exception):
    """Something that is not a plain word."""


def plain_commands(line: str) -> tuple[ShellCommand, ...] | Doubt:
    """The commands of a line, if it holds nothing but plain words."""
    if len(line) > LONGEST:
        return Doubt(f"it is longer than {LONGEST:,} characters", too_much=True)
    try:
        ours = tuple(_commands_from(_own_reading(line)))
        if len(ours) > MOST:
            return Doubt(f"it holds more than {MOST} commands", too_much=True)
        parser = _parser()
        if parser is None:
            return Doubt(
                "tree-sitter-bash is not installed, so every command asks: pip install 'turnout[tools]'"
            )
        if not _both_readings_agree(_ascii_shape(line), parser):
            return Doubt("it can be read in two ways")
    except _NotPlain as odd:
        return Doubt(str(odd))
    return _without_keywords(ours)


def _both_readings_agree(shape: str, parser: Any) -> bool:
    tokens = list(_own_reading(shape))
    root = parser.parse(shape.encode()).root_node
    theirs = () if root.has_error else tuple(_parsed_commands(root))
    redirects = sum(node.type == "file_redirect" for node in _flat(root))
    return tuple(_commands_from(iter(tokens))) == theirs and redirects == sum(
        kind == "nowhere" for kind, _ in tokens
    )


def _ascii_shape(line: str) -> str:
    """The line with an x for each character outside ASCII: what the parser is given.

    The scanner of tree-sitter-bash 0.25 passes any character to C's `isdigit`, which reads outside of
    its table: `{` and a character of a high plane crash the process
    (https://github.com/tree-sitter/tree-sitter-bash/issues/337). To bash such characters are letters
    of a word, so an x keeps the line's structure, and each place in it.
    """
    return line if line.isascii() else _OUTSIDE_ASCII.sub("x", line)


_OUTSIDE_ASCII = re.compile(r"[^\0-\x7f]")


def visible_commands(line: str) -> list[tuple[str, ...]]:
    """The commands that can be seen in a line that is not plain, anywhere in it.

    Only for denying rules: words are taken as they look, and there may be more commands.
    """
    parser = _parser()
    if parser is None or len(line) > LONGEST:
        return []
    waiting = [parser.parse(_ascii_shape(line).encode()).root_node]
    found: list[tuple[str, ...]] = []
    while waiting and len(found) < MOST:
        node = waiting.pop()
        if node.type == "command":
            found.append(tuple(_word_as_seen(child, line) for child in node.children if child.type in _WORDS))
        waiting += reversed(node.children)
    return [words for words in found if words]


_WORDS = frozenset(
    (
        *("command_name", "word", "number", "string", "raw_string", "ansi_c_string", "concatenation"),
        *("simple_expansion", "expansion", "command_substitution"),
    )
)


def _word_as_seen(node: Any, line: str) -> str:
    """A word as it looks: without its quotes and backslashes."""
    if node.type in ("concatenation", "command_name"):
        return "".join(_word_as_seen(child, line) for child in node.children)
    text = line[node.start_byte : node.end_byte]  # a byte of the shape is a character of the line
    if node.type in ("string", "raw_string", "ansi_c_string"):
        return text.lstrip("$")[1:-1]
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _without_keywords(found: tuple[ShellCommand, ...]) -> tuple[ShellCommand, ...] | Doubt:
    """No keyword, assignment or job (`%1`) where a program should stand."""
    for command in found:
        name = command.program
        if not name or name in RESERVED or "=" in name or name.startswith("%") or 0 in command.globs:
            return Doubt(f"it begins a command with {name[:40]!r}")
    return found or Doubt("it holds no command")


def _commands_from(tokens: Iterator[tuple[str, str]]) -> Iterator[ShellCommand]:
    """Commands from tokens: ("word" or "glob", text), ("joint", one of JOINTS or a line end), "nowhere"."""
    words: list[str] = []
    globs: list[int] = []
    joint, waiting = "", False  # waiting: a joint that needs a command behind it
    for kind, text in tokens:
        if kind in ("word", "glob"):
            globs += [len(words)] if kind == "glob" else []
            words.append(text)
            waiting = False
        elif kind == "nowhere":
            if not words:
                raise _NotPlain("it holds a redirect before a command")
        elif words:
            yield ShellCommand(tuple(words), joint, tuple(globs))
            words, globs, joint = [], [], ";" if text == "\n" else text
            waiting = text in ("|", "&&", "||")
        elif text != "\n":
            raise _NotPlain("a command is missing in it")
    if words:
        yield ShellCommand(tuple(words), joint, tuple(globs))
    elif waiting:
        raise _NotPlain("a command is missing at its end")


# Our own reading

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t]+)
  | (?P<nowhere>(?:(?:[012]?>>?|&>>?|0?<)[ \t]*/dev/null|[12]?>&[12])(?=[ \t\n;|&]|\Z))
  | (?P<joint>\n|\|\||&&|;|\|)
  | (?P<bare>(?:[A-Za-z0-9_@%+=:,./^-]|(?<=[A-Za-z0-9^])~|(?<=@)\{\d{1,4}\})+)
  | (?P<glob>[*?]+)
  | '(?P<single>[^']*)'
  | "(?P<double>(?:[^"$`\\!]|\\(?![$`"\\\n]))*)"
    """,
    re.VERBOSE,
)
_PLAIN_BEGINNING = re.compile(r"[^-]|-[A-Za-z]|--[a-z-]+=")
# Its beginning cannot begin a flag or a magic word, or it is the value of a long flag; no part of it can
# stand for the folder above.
_PLAIN_GLOB = re.compile(
    r"(?!(?:.*/)?\.\.?[*?]|(?:.*/)?\.\.(?:/|\Z))(?:[A-Za-z0-9_./]|--[a-z-]+=).*", re.DOTALL
)
_NAMED = {
    "$": "an expansion ($)",
    "`": "a substitution (`)",
    ">": "a redirect (>)",
    "<": "a redirect (<)",
    "*": "a glob (*)",
    "?": "a glob (?)",
    "[": "a glob or test ([)",
    "{": "braces",
    "}": "braces",
    "(": "a subshell (()",
    ")": "a subshell (()",
    "~": "a tilde",
    "\\": "a backslash outside single quotes",
    "&": "a background job (&)",
    "!": "an exclamation mark",
    "#": "a comment (#)",
}


def _own_reading(line: str) -> Iterator[tuple[str, str]]:
    at = 0
    parts: list[tuple[str, str]] = []  # of the word that is being read
    while at < len(line):
        found = _TOKEN.match(line, at)
        if found is None:
            raise _NotPlain(f"it holds {_odd_part(line, at)}")
        kind = str(found.lastgroup)
        if kind in ("bare", "glob", "single", "double"):
            parts.append((kind, found[kind]))
        elif kind == "nowhere" and parts:
            raise _NotPlain("it holds a redirect that is joined to a word")
        else:
            yield from _word_of(parts)
            parts = []
            if kind != "blank":
                yield kind, found[kind]
        at = found.end()
    yield from _word_of(parts)


def _word_of(parts: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """One word from its parts. A glob may not hold quotes; a joined word must have a plain beginning."""
    if not parts:
        return
    kinds = [kind for kind, _ in parts]
    text = _printable("".join(text for _, text in parts))
    if "glob" not in kinds:
        if len(parts) > 1 and not (kinds[0] == "bare" and _PLAIN_BEGINNING.match(parts[0][1])):
            raise _NotPlain("it holds a word that is joined from parts")
        yield "word", text
    elif {"bare", "glob"}.issuperset(kinds) and _PLAIN_GLOB.fullmatch(text):
        yield "glob", text
    else:
        raise _NotPlain("it holds a glob (* or ?) that could stand for anything")


def _odd_part(line: str, at: int) -> str:
    if line[at] == '"':
        return next((_NAMED[c] for c in line[at:] if c in "$`!\\"), "a quote that does not end")
    return _NAMED.get(line[at], f"the character U+{ord(line[at]):04X}")


def _printable(text: str) -> str:
    """Quoted text may be in any script, but may hold no invisible characters and no line breaks."""
    if not text.isprintable():
        raise _NotPlain("it holds invisible characters or line breaks in quotes")
    return text


# The parser's reading

_GROUPS = ("program", "list", "pipeline", "redirected_statement")
_GLOB = re.compile(r"[*?]")
_NOWHERE = re.compile(r"(?:(?:[012]?>>?|&>>?|0?<)[ \t]*/dev/null|[12]?>&[12])")


def _parsed_commands(root: Any) -> Iterator[ShellCommand]:
    joint = ""
    for node in _flat(root):
        if node.type == "command":
            words = list(map(_word, _word_nodes(node)))
            globs = tuple(at for at, word in enumerate(_word_nodes(node)) if _is_glob(word))
            yield ShellCommand(tuple(words), joint, globs)
            joint = ";"  # the end of a line has no node of its own
        elif node.type != "file_redirect":
            joint = node.type


def _flat(node: Any) -> Iterator[Any]:
    """The commands, joints and redirects to nowhere of a tree that holds nothing else, in order."""
    for child in node.children:
        if child.type in _GROUPS:
            yield from _flat(child)
        elif child.type in ("command", *JOINTS) or _leads_nowhere(child):
            yield child
        else:
            raise _NotPlain(
                "it is not valid bash" if child.is_error else f"it holds a {_name_of_node(child)}"
            )


def _leads_nowhere(node: Any) -> bool:
    return node.type == "file_redirect" and _NOWHERE.fullmatch(node.text.decode()) is not None


def _word_nodes(command: Any) -> list[Any]:
    name, *rest = command.children
    if name.type != "command_name" or name.child_count != 1 or name.children[0].type == "concatenation":
        raise _NotPlain(f"it holds a {_name_of_node(name)}")
    return [name.children[0], *rest]


def _word(node: Any) -> str:
    text: str = node.text.decode()
    if node.type in ("word", "number") and not node.child_count:
        return text
    if node.type == "raw_string" and not node.child_count:
        return text[1:-1]
    if node.type == "string" and all(child.type in ('"', "string_content") for child in node.children):
        return text[1:-1]
    if node.type == "concatenation":
        return "".join(map(_word, node.children))
    raise _NotPlain(f"it holds a {_name_of_node(node)}")


def _is_glob(node: Any) -> bool:
    if node.type == "concatenation":
        return any(map(_is_glob, node.children))
    return node.type == "word" and bool(_GLOB.search(node.text.decode()))


def _name_of_node(node: Any) -> str:
    return str(node.type).replace("_", " ")


@cache
def _parser() -> Any:
    """The real parser; None where it is not installed."""
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
