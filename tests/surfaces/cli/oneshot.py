"""`turnout run` inside the test's own process: its exit code, stdout and stderr."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner
from msgspec import Struct
from tests.surfaces.places import User

from turnout.surfaces.cli import main


class Ran(Struct, frozen=True):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        """The last line of stdout, which is the result in both JSON formats."""
        return json.loads(self.out.splitlines()[-1])


def run(user: User, *arguments: str, stdin: str | bytes = "", folder: Path | None = None) -> Ran:
    """A command as this user, in their folder."""
    with standing_in(user, folder or user.folder):
        done = CliRunner().invoke(main, list(arguments), input=stdin, prog_name="turnout")
    if done.exception is not None and not isinstance(done.exception, SystemExit | click.ClickException):
        raise done.exception
    return Ran(done.exit_code, done.stdout, done.stderr)


@contextmanager
def standing_in(user: User, folder: Path) -> Iterator[None]:
    """This process as that user: their environment, in that folder."""
    before, place = dict(os.environ), Path.cwd()
    os.environ.clear()
    os.environ.update(user.environment)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(place)
        os.environ.clear()
        os.environ.update(before)
