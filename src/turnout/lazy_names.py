"""The names of `public.py`, each loaded from its home when it is first used.

The compiled statements of `public.py` run with an importer that loads nothing and only notes which module
each name comes from. That needs no second list and no source text: it works from a zip file too, and
tools that follow imports see all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import CodeType
from typing import Any

PACKAGE = __name__.rpartition(".")[0]


class NotedModule:
    """Stands in for a module while imports are noted: each of its names is the path of the module."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> str:
        return self._path


def load_public(name: str) -> Any:
    """What `turnout.NAME` is. An unknown name is an `AttributeError`, as of any module."""
    if name == "__all__":
        return exported_names()
    if (home := homes_of_names().get(name)) is None:
        raise AttributeError(f"module {PACKAGE!r} has no attribute {name!r}", name=name)
    return getattr(import_module(home), name) if home != PACKAGE else import_module(f"{PACKAGE}.{name}")


def exported_names() -> list[str]:
    """What `from turnout import *` brings: every name, but not the modules."""
    return sorted(["__version__", *(name for name, home in homes_of_names().items() if home != PACKAGE)])


def listed_names() -> list[str]:
    """What `dir(turnout)` shows: the names and the modules."""
    return sorted(["__version__", *homes_of_names()])


@cache
def homes_of_names() -> Mapping[str, str]:
    """The module that each name of `public.py` is imported from."""
    names: dict[str, Any] = {"__builtins__": {"__import__": _note_module}}
    exec(_code_of_public(), names)
    return {name: home for name, home in names.items() if name[0] != "_"}


def _code_of_public() -> CodeType:
    spec = find_spec(f"{PACKAGE}.public")
    if not hasattr(getattr(spec, "loader", None), "get_code"):
        # pytest loads the modules of every package that has a plugin itself, to rewrite their assertions,
        # and its loader cannot give their code. The usual finder can.
        spec = PathFinder.find_spec(f"{PACKAGE}.public", sys.modules[PACKAGE].__path__)
    assert spec is not None and spec.loader is not None, "bug: turnout is installed without public.py"
    return spec.loader.get_code(spec.name)  # type: ignore[attr-defined,no-any-return]


def _note_module(name: str, *_: object) -> NotedModule:
    """In place of `__import__`. All imports of `public.py` are relative, so `name` begins at the package."""
    return NotedModule(f"{PACKAGE}.{name}" if name else PACKAGE)
