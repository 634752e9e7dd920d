"""Write a target into the user's configuration: a table at the end of the file.

Only a new table is added. The rest of the file, with its comments, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from ..plain import dumps
from ..providers import PROVIDERS
from .places import Places, write_private

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def add_target(places: Places, name: str, settings: Mapping[str, Any], about: str) -> str:
    """Add `[targets.NAME]`; the path of the file. `about` becomes a comment above it."""
    expect_free_name(places, name)
    path = places.config / "config.toml"
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    written = f"{before.rstrip()}\n\n" if before.strip() else ""
    write_private(path, written + target_table(name, settings, about))
    return str(path)


def expect_free_name(places: Places, name: str) -> None:
    """Raise where a target cannot have this name."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a name for a target; use letters, digits, _ and -")
    if name in PROVIDERS:
        raise UsageError(f"{name} is a provider; give the target another --name")
    path = places.config / "config.toml"
    if not path.is_file():
        return
    import tomllib

    try:
        known = tomllib.loads(path.read_text(encoding="utf-8")).get("targets", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}; correct it first") from None
    if name in known:
        raise UsageError(f"{path} has a target {name!r} already; give another --name, or delete that one")


def target_table(name: str, settings: Mapping[str, Any], about: str = "") -> str:
    """The table as it stands in a configuration file."""
    plain_rows = [f"{key} = {_toml(value)}" for key, value in settings.items() if not isinstance(value, dict)]
    lines = [*(f"# {line}" for line in about.splitlines()), f"[targets.{name}]", *plain_rows]
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            lines += ["", f"[targets.{name}.{key}]", *(f"{at} = {_toml(each)}" for at, each in value.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value in TOML. Texts, numbers and lists of both are written as in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    # TOML refuses DEL inside a text, and JSON does not escape it.
    return dumps(list(value) if isinstance(value, tuple) else value).replace("\x7f", "\\u007f")
