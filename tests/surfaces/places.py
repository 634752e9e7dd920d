"""A user of one's own: a home, a workspace, and a simulator that plays every provider."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from turnout.simulate.server import running_server
from turnout.simulate.simulation import Simulation
from turnout.surfaces.cli.simulate import PLACES

KEYS = ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "MOONSHOT", "DEEPSEEK", "OPENROUTER")


class User(Struct, frozen=True):
    """Where a test's user lives and works."""

    home: Path
    folder: Path
    environment: dict[str, str]
    simulation: Simulation | None = None

    @property
    def statuses(self) -> list[int]:
        """What the providers answered so far."""
        assert self.simulation is not None
        return [seen.status for seen in self.simulation.exchanges]


def user(place: Path, url: str = "", simulation: Simulation | None = None, **more: str) -> User:
    home, folder = place / "home", place / "work"
    home.mkdir(exist_ok=True)
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text("# Hello\nA small project.\n")
    (folder / "app.py").write_text('print("hi")\n')
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    if url:
        environment |= {name: url + path for name, path in PLACES}
        environment |= {f"{name}_API_KEY": f"sk-{name.lower()}-0123456789abcdef" for name in KEYS}
    return User(home, folder, {**environment, **more}, simulation)


@contextmanager
def simulated(place: Path, source: Any, **options: Any) -> Iterator[User]:
    """A user whose providers are all played by one simulator on loopback."""
    simulation = Simulation(source, **options)
    with running_server(simulation) as url:
        yield user(place, url, simulation)


def wait_for(file: Path, seconds: float = 60) -> None:
    """Until a file is there, which a tool makes."""
    ends = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < ends, f"{file} never came"
        time.sleep(0.02)
