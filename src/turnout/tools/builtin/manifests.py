"""What a project's manifest says of it, in one line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

from ... import plain

NAMES = 12  # of scripts, targets and members


def summary(name: str, text: str) -> str:
    """The name, the commands and the parts that a manifest declares; "" when there is nothing to tell."""
    read = _READERS.get(name)
    if read is None:
        return ""
    try:
        return "; ".join(fact for fact in read(text) if fact)[:400]
    except (ValueError, TypeError, AttributeError, RecursionError):
        return "cannot be read"


def _listed(label: str, names: Iterable[Any]) -> str:
    names = [str(name) for name in names]
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return f"{label}: {', '.join(names[:NAMES])}{more}" if names else ""


def _pairs(label: str, table: Any) -> str:
    return (
        _listed(label, (f"{name} = {value}" for name, value in table.items()))
        if isinstance(table, dict)
        else ""
    )


def _named(table: dict[str, Any]) -> str:
    return " ".join(str(table[key]) for key in ("name", "version") if key in table)


def _pyproject(text: str) -> Iterable[str]:
    data = tomllib.loads(text)
    project = data.get("project") or data.get("tool", {}).get("poetry", {})
    yield _named(project)
    yield f"Python {project['requires-python']}" if "requires-python" in project else ""
    yield _pairs("scripts", project.get("scripts"))
    yield _listed(
        "depends on", (re.split(r"[ <>=!~;\[]", str(name))[0] for name in project.get("dependencies", ()))
    )


def _package(text: str) -> Iterable[str]:
    data = plain.loads(text)
    yield _named(data)
    yield f"main: {data['main']}" if "main" in data else ""
    binaries = data.get("bin")
    yield f"bin: {binaries}" if isinstance(binaries, str) else _pairs("bin", binaries)
    yield _listed("scripts", data.get("scripts", ()))
    yield _listed("depends on", data.get("dependencies", ()))
    workspaces = data.get("workspaces", ())
    yield _listed("workspaces", workspaces if isinstance(workspaces, list) else ())


def _cargo(text: str) -> Iterable[str]:
    data = tomllib.loads(text)
    yield _named(data.get("package", {}))
    yield _listed("members", data.get("workspace", {}).get("members", ()))
    yield _listed("binaries", (binary.get("name", "?") for binary in data.get("bin", ())))
    yield _listed("depends on", data.get("dependencies", ()))


def _go(text: str) -> Iterable[str]:
    yield from re.findall(r"^(module \S+|go \S+)", text, re.MULTILINE)[:2]


def _make(text: str) -> Iterable[str]:
    yield _listed(
        "targets", dict.fromkeys(re.findall(r"^([A-Za-z0-9][\w.-]*)[ \t]*:(?![=:])", text, re.MULTILINE))
    )


def _docker(text: str) -> Iterable[str]:
    yield _listed("from", re.findall(r"^FROM +(\S+)", text, re.MULTILINE | re.IGNORECASE))
    yield from re.findall(r"^((?:ENTRYPOINT|CMD) .{0,120})", text, re.MULTILINE)[-2:]


_READERS: dict[str, Callable[[str], Iterable[str]]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package,
    "Cargo.toml": _cargo,
    "go.mod": _go,
    "Makefile": _make,
    "Dockerfile": _docker,
}
