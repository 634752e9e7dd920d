"""Command lines from a grammar of tricks: what policy saw must be what bash would run.

Most lines are a doubt to us and end there. Of the others, bash itself is asked in a dry
run (`tests/tools/safety/bash.py`): no command of its may be missing from what we saw, and
no word may differ.
"""

from __future__ import annotations

from collections import Counter

from tests.tools.safety.bash import LONGEST, UNSPEAKABLE, runs
from tests.tools.safety.commands import EVERYDAY, HOSTILE

from turnout.tools.policy.shell_safety import judge_line
from turnout.tools.policy.shell_words import Doubt, plain_commands

PIECES = [
    *(
        " ",
        " ",
        " ",
        "  ",
        "\t",
        "\n",
        " ; ",
        ";",
        " && ",
        "&&",
        " || ",
        "||",
        " | ",
        "|",
        "&",
        "|&",
        ";;",
        "\r",
    ),
    *("ls", "cat", "git", "log", "echo", "find", "grep", "rg", "sort", "head", "test", "cd", "printf", "wc"),
    *(
        "eval",
        "exec",
        "if",
        "then",
        "fi",
        "time",
        "for",
        "in",
        "do",
        "done",
        "case",
        "esac",
        "[[",
        "]]",
        "coproc",
    ),
    *(
        "-la",
        "-n5",
        "-n",
        "5",
        "--oneline",
        "--output=x",
        "-exec",
        "--pre",
        "-o",
        "--",
        "-",
        "HEAD~1",
        "~",
        "a~b",
    ),
    *(
        "a",
        "b.txt",
        "src",
        "x=1",
        "=",
        ":",
        ",",
        "%n",
        "@",
        "^",
        "+",
        "_",
        "#",
        "#c",
        "!",
        "2",
        "0x1f",
        "a=~",
    ),
    *(
        "'",
        '"',
        "'a b'",
        '"a b"',
        "''",
        '""',
        "'$x'",
        '"a\\.b"',
        '"\\',
        "\\",
        "\\\n",
        "$'x'",
        '$"x"',
        "'\\''",
    ),
    *(
        "$",
        "`",
        "$(",
        ")",
        "(",
        "${x}",
        "$x",
        "$((1))",
        "{a,b}",
        "{",
        "}",
        "*",
        "?",
        "[",
        "]",
        "<",
        ">",
        ">>",
        "2>&1",
        "2>/dev/null",
        " &>/dev/null",
        "/dev/null",
        "src/*",
        "--include=",
        "@{0}",
        "sed -n 1p",
    ),
    *(
        "é",
        "中",
        "\u202e",
        "\u200b",
        "\u00a0",
        "\x00",
        "\x1b",
        "\x7f",
        "\u2028",
        "\ufeff",
        "\U000e0041",
        "<<E\nE\n",
    ),
]
LINES = [*EVERYDAY, *(case["command"] for case in HOSTILE)]


def line_of(data: bytes) -> str:
    """Bytes as a line: pieces of the grammar, a known line with a piece put in, or as they are."""
    kind, rest = (data[0] % 4, data[1:]) if data else (0, b"")
    if kind == 0:
        return rest.decode(errors="replace")
    if kind == 1 and len(rest) >= 3:
        base = LINES[(rest[0] << 8 | rest[1]) % len(LINES)]
        at = rest[2] % (len(base) + 1)
        return base[:at] + "".join(PIECES[byte % len(PIECES)] for byte in rest[3:6]) + base[at:]
    return "".join(PIECES[byte % len(PIECES)] for byte in rest)


def agrees(line: str) -> bool:
    """Whether bash was asked about a line; fails when it would run what we did not see."""
    seen = plain_commands(line)
    judge_line(line)
    if isinstance(seen, Doubt) or len(line) > LONGEST:
        return False
    if any(command.program in UNSPEAKABLE or "/" in command.program for command in seen):
        return False
    if any(command.words[at].startswith("/") for command in seen for at in command.globs):
        return False  # the dry run's own folder is empty, the machine is not
    would_run = Counter(runs(line))
    policy_saw = Counter(command.words for command in seen)
    assert would_run <= policy_saw, f"{line!r}: bash runs {would_run}, policy saw {policy_saw}"
    assert would_run[seen[0].words], f"{line!r}: bash does not run {seen[0].words}"
    return True


def shell(data: bytes) -> None:
    agrees(line_of(data))


TARGETS = {"shell": shell}
