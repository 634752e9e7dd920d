"""Where other agents keep the sessions of a folder: one function a program, and one list of all.

Each program has a variable that moves its files; else they are below the home folder. Nothing is
written, and a folder that is not there has no sessions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from ..errors import UsageError
from ..plain import dict_in, loads, text_in
from .foreign.opencode_store import stored_chats

MOST = 200
"""Files of one program that are looked at, the newest first."""
HEAD = 64 * 1024
"""Bytes at the start of a file in which its folder is looked for."""


class FoundSession(Struct, frozen=True):
    """A session of another program on this machine."""

    program: str
    path: Path
    updated: float
    conversation: str = ""  # which one, where a file holds several


def sessions_of_folder(folder: Path, environment: Mapping[str, str]) -> list[FoundSession]:
    """Every session of this folder, the last used first."""
    home = Path(environment.get("HOME") or Path.home())
    found = [each for find in FINDERS.values() for each in find(folder, home, environment)]
    return sorted(found, key=lambda each: -each.updated)


def _base(environment: Mapping[str, str], variable: str, usual: Path) -> Path:
    return Path(environment.get(variable) or usual).expanduser()


def _newest(program: str, paths: Iterator[Path]) -> list[FoundSession]:
    found = [FoundSession(program, path, path.stat().st_mtime) for path in paths if path.is_file()]
    return sorted(found, key=lambda each: -each.updated)[:MOST]


def claude_folder(folder: Path) -> str:
    """The name that Claude Code and qwen-code give a folder: every other sign is a dash."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(folder))


def _claude_code(folder: Path, home: Path, environment: Mapping[str, str]) -> list[FoundSession]:
    base = _base(environment, "CLAUDE_CONFIG_DIR", home / ".claude")
    return _newest("claude-code", (base / "projects" / claude_folder(folder)).glob("*.jsonl"))


def _codex(folder: Path, home: Path, environment: Mapping[str, str]) -> list[FoundSession]:
    base = _base(environment, "CODEX_HOME", home / ".codex")
    found = _newest("codex", (base / "sessions").glob("**/rollout-*.jsonl"))
    return [each for each in found if _is_of_folder(each.path, folder)]


def _is_of_folder(path: Path, folder: Path) -> bool:
    """Whether the head of a rollout names this folder. A head that is lost counts as any folder."""
    with path.open("rb") as file:
        head = file.read(HEAD).decode(errors="replace")
    found = re.search(r'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")', head)
    return found is None or loads(found[1]) == str(folder)


def _gemini_cli(folder: Path, home: Path, environment: Mapping[str, str]) -> list[FoundSession]:
    base = _base(environment, "GEMINI_CLI_HOME", home) / ".gemini"
    return list(_chats_below(base, "gemini-cli", folder))


def _qwen_code(folder: Path, home: Path, environment: Mapping[str, str]) -> list[FoundSession]:
    base = _base(environment, "QWEN_HOME", home / ".qwen")
    chats = base / "projects" / claude_folder(folder) / "chats"
    return [*_newest("qwen-code", chats.glob("*.jsonl")), *_chats_below(base, "qwen-code", folder)]


def _chats_below(base: Path, program: str, folder: Path) -> Iterator[FoundSession]:
    """The chats of a folder below `tmp`: under its hash, its short name, or the folder that says so."""
    names = {sha256(str(folder).encode()).hexdigest(), _short_name(base, folder)} - {""}
    places = [base / "tmp" / name for name in names]
    for marker in (base / "tmp").glob("*/.project_root"):
        if marker.read_text(errors="replace").strip() == str(folder) and marker.parent not in places:
            places.append(marker.parent)
    for place in places:
        yield from _newest(program, place.glob("chats/session-*.json*"))
        yield from _newest(program, place.glob("checkpoint*.json"))


def _short_name(base: Path, folder: Path) -> str:
    try:
        projects = dict_in(dict_in(loads((base / "projects.json").read_bytes())).get("projects"))
    except (OSError, ValueError):
        return ""
    return text_in(projects.get(str(folder)))


def _opencode(folder: Path, home: Path, environment: Mapping[str, str]) -> list[FoundSession]:
    data = _base(environment, "XDG_DATA_HOME", home / ".local/share") / "opencode"
    found: dict[str, FoundSession] = {}
    for place in (*sorted(data.glob("*.db")), data / "storage"):
        if not place.exists():
            continue
        try:
            chats = stored_chats(place)
        except UsageError:
            continue  # another database
        for chat in chats:
            if chat.folder == str(folder):
                found.setdefault(chat.id, FoundSession("opencode", place, chat.updated, chat.id))
    return list(found.values())


def pi_folder(folder: Path) -> str:
    """The name that pi gives a folder: its slashes are dashes, between two pairs of them."""
    return f"--{str(folder).strip('/').replace('/', '-').replace(':', '-')}--"


def _pi(folder: Path, home: Path, environment: Mapping[str, str]) -> list[FoundSession]:
    base = _base(environment, "PI_CODING_AGENT_DIR", home / ".pi/agent")
    return _newest("pi", (base / "sessions" / pi_folder(folder)).glob("*.jsonl"))


FINDERS: dict[str, Callable[[Path, Path, Mapping[str, str]], list[FoundSession]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "opencode": _opencode,
    "pi": _pi,
    "qwen-code": _qwen_code,
}
