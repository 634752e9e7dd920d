"""Sessions of other programs, read as histories that any provider can continue.

One file a program. `foreign_transcript` collects what was said, whatever the format. Only `interchange` and
`surfaces` import this. Imports `history.ingest`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...errors import UsageError
from . import claude_code, codex, gemini_cli, opencode, pi, qwen_code
from .foreign_transcript import ForeignSession

READERS: dict[str, Callable[[bytes, str], ForeignSession]] = {
    "claude-code": claude_code.read_claude_code,
    "codex": codex.read_codex,
    "gemini-cli": gemini_cli.read_gemini_cli,
    "opencode": opencode.read_opencode,
    "pi": pi.read_pi,
    "qwen-code": qwen_code.read_qwen_code,
}
PROGRAMS = (*READERS, "llm")

SQLITE = b"SQLite format 3\x00"

__all__ = ["PROGRAMS", "READERS", "SQLITE", "ForeignSession", "read_file"]


def read_file(program: str, path: Path, key: str, conversation: str = "") -> ForeignSession:
    """The session that a file of that program holds; `conversation` names one where it holds several."""
    if program == "llm":
        from . import llm  # imported here, so that apsw is loaded only when it is needed

        return llm.read_llm(path, key, conversation)
    if program not in READERS:
        raise UsageError(f"sessions of {program!r} cannot be read; use one of {', '.join(PROGRAMS)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; check the path") from error
    if data.startswith(SQLITE) and program == "opencode":
        from .opencode_store import exported_chat, stored_chats

        chosen = conversation or only_chat(path, [chat.id for chat in stored_chats(path)])
        data = exported_chat(path, chosen)
    elif data.startswith(SQLITE):
        raise UsageError(f"{path} is a database; {_database_hint(program)}")
    found = READERS[program](data, key)
    if not found.history.turns and not found.history.summary:
        raise UsageError(f"no conversation was found in {path}; give a session of {program}")
    return found


def only_chat(path: Path, ids: list[str]) -> str:
    """The only session of a database; with several, an error that lists them."""
    if len(ids) == 1:
        return ids[0]
    shown = ", ".join(ids[-10:]) or "none"
    raise UsageError(f"{path} holds {len(ids)} sessions; name one with --conversation: {shown}")


def _database_hint(program: str) -> str:
    return f"the sessions of {program} are JSON files; give one of these"
