"""Commands that may stand in the words of another: `tar --to-command='rm x'`, `vim -c '!rm x'`.

Of these programs it is known that some of their words are commands, and not which. So whatever
in their words may begin a command is shown to rules that deny, and what such a rule then meets is
asked for, not denied: it may be a mere word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

MOST = 300  # places in the words of one command that are looked at
LONGEST = 500  # characters of a command that are shown

STARTERS = frozenset(
    (
        *("capsh", "docker", "expect", "ip", "kubectl", "nerdctl", "podman", "screen", "socat", "ncat", "nc"),
        *("start-stop-daemon", "tmux", "xterm", "systemd-nspawn", "bwrap", "run-parts", "script", "pee"),
        *(
            "sed",
            "tar",
            "bsdtar",
            "zip",
            "rsync",
            "scp",
            "gdb",
            "lldb",
            "emacs",
            "less",
            "man",
            "split",
            "sort",
        ),
        *(
            "ed",
            "ex",
            "vi",
            "view",
            "vim",
            "nvim",
            "entr",
            "hyperfine",
            "direnv",
            "nix",
            "nix-shell",
            "conda",
        ),
        # By these a program gets another name.
        *("alias", "hash", "cp", "ln", "install", "mv"),
        # Builtins of bash that read what is in square brackets once more.
        *(
            "compgen",
            "complete",
            "declare",
            "export",
            "let",
            "local",
            "mapfile",
            "printf",
            "read",
            "readarray",
        ),
        *("readonly", "test", "[", "typeset", "unset", "wait"),
    )
)
# Programs that start others only by some of their commands.
STARTING_COMMANDS = {
    "git": ("-c", "--config-env", "bisect", "submodule", "rebase", "filter-branch", "difftool", "mergetool"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("exec", "x", "dlx")),
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pipx"), ("run", "exec")),
    **dict.fromkeys(("bundle", "mise", "asdf", "nvm"), ("exec",)),
}
# Programs that take commands from what they are piped.
PIPED = frozenset(("at", "batch", "ed", "ex", "gdb", "vi", "vim"))

_TOKEN = re.compile(r"[\w.+/-]+")


def embedded_commands(name: str, words: Sequence[str]) -> Iterator[str]:
    """What in the words of a command may be a command: from every place where one may begin."""
    if name in ("find", "gfind") and "-delete" in words:
        yield "rm {}"
    if name not in STARTERS and not _is_starting(STARTING_COMMANDS.get(name, ()), words):
        return
    text = " ".join(words)
    for place in _TOKEN.finditer(text):
        for beginning in dict.fromkeys((place[0], basename(place[0]))):
            if beginning:
                yield f"{beginning}{text[place.end() : place.end() + LONGEST]}"
                yield f"{beginning} {{}}"


def _is_starting(commands: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the command of a program is one of those, or one of the flags before it."""
    for word in words:
        if word in commands:
            return True
        if not word.startswith("-"):
            return False
    return False
