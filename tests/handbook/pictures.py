"""The pictures of the terminal in README and docs: the real program against simulated providers.

    python -m tests.handbook.pictures

tmux runs the program and gives its screen; rich writes it as SVG. Fonts are those of the reader, so that a
picture loads nothing. The temporary folder is shown as ~/parser.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text
from tests.surfaces.places import User, simulated
from tests.surfaces.shots import screen_of

from turnout.interchange.rescue_places import claude_folder
from turnout.simulate import Call, Say, SimulatedRequest

PICTURES = Path(__file__).parent.parent.parent / "docs" / "pictures"
COLUMNS = 80
WIDTH = 720
"""Of a picture, in pixels; it shrinks where there is less room."""

FONTS = "ui-monospace, Menlo, Consolas, monospace"
FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)

PARSER = "def next_token(tokens, at):\n    return tokens[at + 1]\n"
TALK = ("Why does the parser fail?", "", "/model kimi:kimi-k3", "Mend it.", "")
STUCK: list[dict[str, Any]] = [
    {"type": "user", "message": {"role": "user", "content": "Fix the login test"}},
    {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "model": "claude-sonnet-5",
            "content": [
                {"type": "text", "text": "I run it first."},
                {"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": "make test"}},
            ],
        },
    },
    {"type": "user", "message": {"role": "user", "content": "are you still there?"}},
]


def answer_talk(asked: SimulatedRequest) -> object:
    """Claude reads the file and explains; Kimi mends it."""
    if "Mend" in asked.user:
        change = {"path": "parser.py", "old_text": "tokens[at + 1]", "new_text": "tokens[at]"}
        done = [Say("Mended: `next_token` looks at the token it was asked for.")]
        return done if asked.results else [Call("edit_file", change)]
    reason = "`next_token` reads **one token too far**: it takes `at + 1`, so it fails at the end of a file."
    return [Say(reason)] if asked.results else [Call("read_file", {"path": "parser.py"})]


def draw_talk() -> str:
    """One conversation that changes from Claude to Kimi between reading and mending a file."""
    with tempfile.TemporaryDirectory() as place, simulated(Path(place), answer_talk) as user:
        (user.folder / "parser.py").write_text(PARSER)
        screen = screen_of(user, ["-m", "claude-sonnet-5", "--approval-mode", "auto-edit"], TALK, COLUMNS)
        return terminal_picture(_with_short_path(screen, user), "turnout")


def draw_rescue() -> str:
    """A session of Claude Code that was killed while a tool ran."""
    with tempfile.TemporaryDirectory() as place, simulated(Path(place), answer_talk) as user:
        file = user.home / ".claude" / "projects" / claude_folder(user.folder) / "4f2a.jsonl"
        file.parent.mkdir(parents=True)
        link = {"sessionId": "4f2a", "cwd": str(user.folder)}
        records = [
            {**link, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, **record}
            for at, record in enumerate(STUCK)
        ]
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        screen = screen_of(user, ["rescue"], (), COLUMNS)
        return terminal_picture(_with_short_path(screen, user), "turnout rescue")


def terminal_picture(screen: str, title: str) -> str:
    """A screen as SVG, without the fonts that rich would load from a server."""
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, legacy_windows=False
    )
    console.print(Text.from_ansi(screen.strip("\n")), soft_wrap=True)
    text = console.export_svg(title=title, theme=DIMMED_MONOKAI, unique_id=title.replace(" ", "-"))
    text = re.sub(r"\s*<!-- Generated.*?-->", "", text)
    return FONT_FACES.sub("", text).replace(
        "Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace"
    )


def _with_short_path(screen: str, user: User) -> str:
    return screen.replace(str(user.folder), "~/parser")


def main() -> None:
    for name, draw in {"terminal.svg": draw_talk, "rescue.svg": draw_rescue}.items():
        (PICTURES / name).write_text(draw())
        print(f"wrote docs/pictures/{name}")


if __name__ == "__main__":
    main()
