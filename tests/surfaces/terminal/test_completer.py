"""Tab completion."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from turnout.surfaces.terminal.completer import ChatCompleter
from turnout.surfaces.terminal.user_commands import UserCommand
from turnout.tools.confine.workspace import WorkspaceFiles


def test_completions(tmp_path: Path) -> None:
    """Commands by their beginning, what may follow them, and files by any part of their path."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/deep file.py").write_text("")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config.py").write_text("")
    with WorkspaceFiles(tmp_path) as workspace:
        scheduler = SimpleNamespace(workspace=workspace)
        commands = {"mine": UserCommand("mine", "x")}
        talk = SimpleNamespace(session=SimpleNamespace(scheduler=scheduler), user_commands=commands)
        completer = ChatCompleter(talk)  # type: ignore[arg-type]

        def offered(text: str) -> list[str]:
            found = completer.get_completions(Document(text), CompleteEvent())
            return [completion.text for completion in found]

        assert offered("/m") == ["model", "mcp", "mine"]
        assert offered("/permissions a") == ["ask", "auto-edit", "plan"]
        assert offered("look at @deep") == ['@"src/deep file.py"']
        assert offered("me@deep") == [] and offered("hello") == []
