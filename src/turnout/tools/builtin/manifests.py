"""A project's manifest in one line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

from ... import plain

NAMES = 12  # scripts, targets or members that are listed


def manifest_summary(name: str, text: str) -> str:
    """The name, the commands and the parts that a manifest declares; "" when it declares none."""
    read = _READERS.get(name)
    if read is None:
        return ""
    try:
        return "; ".join(fact for fact in read(text) if fact)[:400]
    except (ValueError, TypeError, AttributeError, RecursionError):
        return "cannot be read"


def _list_fact(label: str, names: Iterable[Any]) -> str:
    names = [str(name) for name in names]
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return f"{label}: {', '.join(names[:NAMES])}{more}" if names else ""


def _table_fact(label: str, table: Any) -> str:
    return (
        _list_fact(label, (f"{name} = {value}" for name, value in table.items()))
        if isinstance(table, dict)
        else ""
    )


def _name_and_version(table: dict[str, Any]) -> str:
    return " ".join(str(table[key]) for key in ("name", "version") if key in table)


def _read_pyproject(text: str) -> Iterable[str]:
    data = tomllib.loads(text)
    project = data.get("project") or data.get("tool", {}).get("poetry", {})
    yield _name_and_version(project)
    yield f"Python {project['requires-python']}" if "requires-python" in project else ""
    yield _table_fact("scripts", project.get("scripts"))
    yield _list_fact(
        "depends on", (re.split(r"[ <>=!~;\[]", str(name))[0] for name in project.get("dependencies", ()))
    )


def _read_package(text: str) -> Iterable[str]:
    data = plain.loads(text)
    yield _name_and_version(data)
    yield f"main: {data['main']}" if "main" in data else ""
    binaries = data.get("bin")
    yield f"bin: {binaries}" if isinstance(binaries, str) else _table_fact("bin", binaries)
    yield _list_fact("scripts", data.get("scripts", ()))
    yield _list_fact("depends on", data.get("dependencies", ()))
    workspaces = data.get("workspaces", ())
    yield _list_fact("workspaces", workspaces if isinstance(workspaces, list) else ())


def _read_cargo(text: str) -> Iterable[str]:
    data = tomllib.loads(text)
    yield _name_and_version(data.get("package", {}))
    yield _list_fact("members", data.get("workspace", {}).get("members", ()))
    yield _list_fact("binaries", (binary.get("name", "?") for binary in data.get("bin", ())))
    yield _list_fact("depends on", data.get("dependencies", ()))


def _read_go(text: str) -> Iterable[str]:
    yield from re.findall(r"^(module \S+|go \S+)", text, re.MULTILINE)[:2]


def _read_makefile(text: str) -> Iterable[str]:
    yield _list_fact(
        "targets", dict.fromkeys(re.findall(r"^([A-Za-z0-9][\w.-]*)[ \t]*:(?![=:])", text, re.MULTILINE))
    )


def _read_dockerfile(text: str) -> Iterable[str]:
    yield _list_fact("from", re.findall(r"^FROM +(\S+)", text, re.MULTILINE | re.IGNORECASE))
    yield from re.findall(r"^((?:ENTRYPOINT|CMD) .{0,120})", text, re.MULTILINE)[-2:]


_READERS: dict[str, Callable[[str], Iterable[str]]] = {
    "pyproject.toml": _read_pyproject,
    "package.json": _read_package,
    "Cargo.toml": _read_cargo,
    "go.mod": _read_go,
    "Makefile": _read_makefile,
    "Dockerfile": _read_dockerfile,
}
