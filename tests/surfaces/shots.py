"""Pictures of the terminal at three widths, to be looked at: python -m tests.surfaces.shots FOLDER [SCENE…]

tmux runs the real program against the simulator and gives its screen with colours; rich writes it as SVG,
and chromium, where there is one, as PNG.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text
from tests.interchange.agent_homes import furnish_home
from tests.surfaces.places import User, simulated

from turnout.simulate import Call, Say, SimulatedRequest, Think

WIDTHS = (40, 80, 120)
ROWS = 40
LONG = "\n".join(f"line {number}" for number in range(400))
ANSWER = """## What I found

The parser reads **one token** too far, so `next()` fails at the end of a file. Three places matter:

- `src/parser.py:41` takes the token before it looks at it
- `src/lexer.py:7` has no token for the end

| file | lines | state |
|---|---|---|
| parser.py | 120 | mended |
| lexer.py | 80 | unchanged |

```python
def next(self) -> Token:
    return self.tokens[self.at] if self.at < len(self.tokens) else END
```
"""
STEPS = [{"text": "read the parser", "status": "done"}, {"text": "mend it", "status": "in_progress"}]
SCENES: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "answer": (["-m", "gpt-4o", "--approval-mode", "auto-edit"], ("understand it",)),
    "tools": (["-m", "gpt-4o", "--approval-mode", "auto-edit"], ("plan and write",)),
    "question": (["-m", "claude-sonnet-5"], ("run it",)),
    "jobs": (["-m", "gpt-4o", "--approval-mode", "full"], ("start the server",)),
    "model": (["-m", "gpt-4o"], ("/model",)),
    "context": (["-m", "gpt-4o"], ("/context",)),
    "help": (["-m", "gpt-4o"], ("/help",)),
    "rescue": (["rescue"], ()),
    "guide": ([], ()),
}


def model(asked: SimulatedRequest) -> object:
    if "plan" in asked.user and not asked.results:
        write = Call("write_file", {"path": "long.txt", "content": LONG})
        return [Think("Steps first."), Call("todo", {"items": [*STEPS, {"text": "run the tests"}]}), write]
    if "server" in asked.user and not asked.results:
        return [Call("shell", {"command": "echo listening on 3000; sleep 300", "background": True})]
    if "run it" in asked.user and not asked.results:
        return [Call("shell", {"command": "make test && rm -rf build"})]
    return [Think("Let me see."), Say(ANSWER)]


def screen_of(user: User, arguments: list[str], typed: tuple[str, ...], columns: int) -> str:
    """The screen of the program after something was typed, with colours."""
    name = f"shot{os.getpid()}"
    tmux = ["tmux", "-L", name]
    environment = {**user.environment, "TERM": "xterm-256color"}
    command = ["env", "-i", *(f"{key}={value}" for key, value in environment.items())]
    command += [sys.executable, "-m", "turnout", *arguments]
    size = ["-x", str(columns), "-y", str(ROWS)]
    subprocess.run([*tmux, "new-session", "-d", *size, "-c", str(user.folder), *command], check=True)
    try:
        _still_screen(tmux)
        for text in typed:
            subprocess.run([*tmux, "send-keys", "-l", text], check=True)
            _still_screen(tmux)  # typed before it is read, a key would go elsewhere
            subprocess.run([*tmux, "send-keys", "Enter"], check=True)
            _still_screen(tmux)
        return _still_screen(tmux)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


def _still_screen(tmux: list[str]) -> str:
    """The screen, once it shows something and has not changed for a while."""
    last, since = "", time.monotonic()
    ends = since + 30
    while time.monotonic() < ends:
        shown = subprocess.run([*tmux, "capture-pane", "-e", "-p"], check=True, capture_output=True)
        screen = shown.stdout.decode()
        if screen != last:
            last, since = screen, time.monotonic()
        elif screen.strip() and time.monotonic() - since > 0.7:
            break
        time.sleep(0.1)
    return last


def write_picture(screen: str, path: Path, columns: int) -> None:
    console = Console(
        record=True, width=columns, file=io.StringIO(), force_terminal=True, legacy_windows=False
    )
    console.print(Text.from_ansi(screen.rstrip("\n")), soft_wrap=True)
    path.write_text(console.export_svg(title=path.stem))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium:
        size = f"--window-size={columns * 13 + 40},{ROWS * 25 + 80}"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size]
        target = [f"--screenshot={path.with_suffix('.png')}", path.resolve().as_uri()]
        subprocess.run([chromium, *flags, *target], check=False, timeout=60, capture_output=True)


def main(folder: Path, *scenes: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for scene in scenes or SCENES:
        arguments, typed = SCENES[scene]
        for columns in WIDTHS:
            with tempfile.TemporaryDirectory() as place, simulated(Path(place), model) as user:
                if scene in ("rescue", "guide"):
                    furnish_home(user.home, user.folder)
                if scene == "guide":
                    known = {n: v for n, v in user.environment.items() if not n.endswith("_API_KEY")}
                    user = User(user.home, user.folder, known, user.simulation)
                screen = screen_of(user, arguments, typed, columns)
                write_picture(screen, folder / f"{scene}-{columns}.svg", columns)
                print(folder / f"{scene}-{columns}.svg")


if __name__ == "__main__":
    if shutil.which("tmux") is None:
        sys.exit("make shots needs tmux; install it, and run this again")
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "shots"), *sys.argv[2:])
