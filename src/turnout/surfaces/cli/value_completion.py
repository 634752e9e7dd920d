"""What a shell completes after an option: models after -m, session ids after -r, profiles after --profile.

Only local files are read: the configuration, the catalogue and the store. A completion that fails
offers nothing, since its message would land in the middle of a command line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

MOST = 60


def complete_models(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Targets with a key first, then every known model."""

    def names() -> Iterable[tuple[str, str]]:
        from ...world.model_names import known_model_names
        from ..shared.open_session import SessionArguments, configuration

        # Bash takes a colon for the end of a word, so a slash stands between provider and model.
        for name in configuration(SessionArguments()).targets():
            yield name.replace(":", "/", 1), "ready"
        for name in known_model_names():
            yield name.partition(":")[2], ""
            yield name.replace(":", "/", 1), ""

    return _items(names, typed)


def complete_sessions(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The ids of stored sessions, with their titles."""

    def names() -> Iterable[tuple[str, str]]:
        from ...store import open_store

        with open_store(os.environ) as store:
            return [(line.id, line.title) for line in store.list(limit=MOST)]

    return _items(names, typed)


def complete_profiles(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The profiles of the configuration."""

    def names() -> Iterable[tuple[str, str]]:
        from ..shared.open_session import SessionArguments, configuration

        return [(name, "") for name in configuration(SessionArguments()).settings.profiles]

    return _items(names, typed)


def _items(names: Callable[[], Iterable[tuple[str, str]]], typed: str) -> list[CompletionItem]:
    from ..shared.clean_text import one_line

    try:
        fitting = {name: help for name, help in names() if name.startswith(typed)}
    except Exception:  # a shell shows whatever is printed, in the middle of the line
        return []
    return [CompletionItem(name, help=one_line(help, 60) or None) for name, help in fitting.items()][:MOST]
