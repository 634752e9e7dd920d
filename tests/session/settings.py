"""Sessions from flat settings, so that a test names only what it is about.

The fields of `Limits`, `Approval`, `World` and `Options` may be given by their own names.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from turnout import Approval, Limits, Options, Session, World

GROUPS: dict[str, Any] = {"limits": Limits, "approval": Approval, "world": World, "options": Options}
OWN = ("tools",)  # a parameter of a session that is a field of `Limits` too


def make_session(target: str, **settings: Any) -> Session:
    """A session: `make_session(target, rounds=3, environment={})` is
    `Session(target, limits=Limits(rounds=3), world=World(environment={}))`."""
    for group, kind in GROUPS.items():
        names = [name for name in settings if name in kind.__struct_fields__ and name not in OWN]
        if fields := {name: settings.pop(name) for name in names}:
            settings[group] = _joined(settings.get(group), kind, fields)
    return Session(target, **settings)


def _joined(given: Any, kind: Any, fields: dict[str, Any]) -> Any:
    given = kind(given) if isinstance(given, str) else given
    return kind(**fields) if given is None else replace(given, **fields)
