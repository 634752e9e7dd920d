"""`turnout update`: how this installation is updated. Nothing is asked over the network."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import click

from ... import __version__
from ...plain import dict_in, loads, text_in


@click.command("update")
def update_command() -> None:
    """Say how to update this installation. turnout does not call home, so it does not know what is newest."""
    click.echo(f"turnout {__version__}, in {sys.prefix}")
    click.echo(update_words())


def update_words() -> str:
    """The command that updates turnout, by the way it was installed."""
    try:
        found = distribution("turnout")
    except PackageNotFoundError:
        return "It runs from its source files: update them (git pull)."
    source = _source_of(found)
    prefix = Path(sys.prefix)
    if source.startswith("file://"):
        folder = source.removeprefix("file://")
        command = _install_words(prefix, folder)
        return f"It was installed from {folder}. Update that folder (git pull), then: {command}"
    return f"To update: {_install_words(prefix, 'turnout')}"


def _install_words(prefix: Path, what: str) -> str:
    if "uv" in prefix.parts and "tools" in prefix.parts:
        return f"uv tool install --upgrade '{what}[all]'" if what != "turnout" else "uv tool upgrade turnout"
    if "pipx" in prefix.parts:
        return "pipx reinstall turnout" if what != "turnout" else "pipx upgrade turnout"
    return f"{prefix}/bin/python -m pip install --upgrade '{what}[all]'"


def _source_of(found: Distribution) -> str:
    """Where the package was installed from, as pip noted it; "" for an index."""
    try:
        return text_in(dict_in(loads(found.read_text("direct_url.json") or "{}")).get("url"))
    except ValueError:
        return ""
