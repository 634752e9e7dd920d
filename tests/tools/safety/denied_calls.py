"""A folder with secrets that rules deny, and the many calls by which someone may get at them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

CANARY = "canary-5d1f7"
RULES = ("**/.env", "secrets/**", "*.pem")

Call = tuple[str, dict[str, Any]]


def furnish(root: Path) -> None:
    """Secrets by name, in the history, behind links, as hard links, in a stash, and beside harmless files."""
    secret, plain = f"KEY={CANARY}\n", "harmless\n"
    files = {
        **dict.fromkeys((".env", "config/.env", "secrets/key", "tls.pem", "a/.env", ".Env"), secret),
        **dict.fromkeys(("src/main.py", "config/app.toml", "a/x.txt", "b/x.txt", "b/.env.example"), plain),
        "vault/real": secret,  # what deploy/.env leads to
        "README.md": "# Readme\n",
        "package.json": '{"name": "x"}\n',
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "deploy").mkdir()
    (root / "deploy/.env").symlink_to("../vault/real")
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "first")
    (root / ".env").write_text(f"KEY={CANARY}-two\n")
    _git(root, "stash", "-q")
    (root / ".env").write_text(f"KEY={CANARY}-three\nlonger\n")
    os.link(root / ".env", root / "linked")
    os.link(root / "secrets/key", root / "src/linked.txt")
    (root / "alias").symlink_to(".env")
    (root / "far").symlink_to("config")


def _git(root: Path, *words: str) -> None:
    who = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    known = {**who, "PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=root, env=known, check=True, capture_output=True)


def _reading(root: Path) -> list[Call]:
    paths = (
        *(".env", "./.env", "src/../.env", ".ENV", ".Env", "config/.env", "far/.env", "alias", "linked"),
        *("vault/real", "deploy/.env", "secrets/key", "SECRETS/key", "src/linked.txt", "tls.pem"),
        *(f"{root}/.env", f"{root}//linked"),
    )
    return [
        *(("read_file", {"path": path}) for path in paths),
        ("read_files", {"paths": ["README.md", *paths]}),
        ("read_files", {"paths": ["linked", "vault/real"]}),
        *(("grep", {"pattern": "canary", **more}) for more in _searches()),
        *(("codebase_overview", {"path": path}) for path in (".", "config", "secrets", "vault")),
        *(("list_directory", {"path": path, "depth": 5}) for path in (".", "secrets")),
        *(
            ("glob", {"pattern": pattern, "include_ignored": True})
            for pattern in ("**/*", "secrets/*", ".env")
        ),
    ]


def _searches() -> list[dict[str, Any]]:
    return [
        *(
            {},
            {"include": "*"},
            {"include": ".env"},
            {"include_ignored": True},
            {"context": 5},
            {"literal": True},
        ),
        *({"path": "config"}, {"path": "secrets"}, {"path": "linked"}, {"path": "vault"}, {"path": "src"}),
        *({"path": "alias"}, {"path": "far"}, {"pattern": "(?i)CANARY"}, {"pattern": "KEY=(.*)"}),
    ]


def _writing() -> list[Call]:
    patch = "*** Begin Patch\n*** Update File: {}\n@@\n-nothing like it\n+x\n*** End Patch"
    moved = "*** Begin Patch\n*** Update File: {}\n*** Move to: open.txt\n@@\n KEY={}-three\n*** End Patch"
    names = (".env", "linked", "alias", "vault/real", "secrets/key", ".ENV")
    return [
        *(("edit_file", {"path": name, "old_text": "KEY=canary", "new_text": "x"}) for name in names),
        *(("apply_patch", {"patch": patch.format(name)}) for name in names),
        *(("apply_patch", {"patch": moved.format(name, CANARY)}) for name in (".env", "linked")),
        ("write_file", {"path": ".env", "content": "x"}),
        ("write_file", {"path": "secrets/new", "content": "x"}),
        ("delete_file", {"path": "secrets/key"}),
    ]


HERE = Path(__file__).parent
COMMANDS = (HERE / "denied_commands.txt").read_text().splitlines()
HISTORY = (HERE / "denied_history.txt").read_text().splitlines()


def calls(root: Path) -> list[Call]:
    """Everything but the history."""
    return [*_reading(root), *_writing(), *(("shell", {"command": command}) for command in COMMANDS)]


def history_calls() -> list[Call]:
    return [("shell", {"command": command}) for command in HISTORY]
