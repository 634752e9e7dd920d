"""The public surface as lines of text: every name, with its parameters, fields and methods.

`python -m tests.public_names` writes the list that `test_public.py` compares with.
"""

from __future__ import annotations

import ast
import enum
import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import turnout

LIST = Path(__file__).with_name("public_names.txt")
COMMAND = "python -m tests.public_names"


def surface_lines() -> list[str]:
    """One line for each public thing: a name, and what can be called or read on it."""
    return sorted({line for where, thing in public_things() for line in lines_of(where, thing)})


def public_things() -> Iterator[tuple[str, Any]]:
    """Each public name as a user writes it, with what it is; of modules what `turnout` itself lacks."""
    for module in (turnout, *public_modules()):
        for name in names_of(module):
            if module is turnout or name not in turnout.__all__:
                yield f"{module.__name__}.{name}", getattr(module, name)


def public_modules() -> list[ModuleType]:
    """The modules that are public as a whole, such as `turnout.simulate`."""
    names = sorted(set(dir(turnout)) - set(turnout.__all__))
    return [import_module(f"turnout.{name}") for name in names]


def names_of(module: ModuleType) -> list[str]:
    """What a module says is public, or else the classes that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    kinds = {name: thing for name, thing in vars(module).items() if inspect.isclass(thing)}
    return [name for name, kind in kinds.items() if kind.__module__ == module.__name__ and name[0] != "_"]


def lines_of(where: str, thing: Any) -> Iterator[str]:
    """The name with its parameters; of a class also its members that are not parameters."""
    if not inspect.isclass(thing):
        yield where + parameters_of(thing)
        return
    made_from = "" if is_plain(thing) else parameters_of(thing)
    yield where + made_from
    given = set(made_from.strip("()").split(", "))
    for name, member in public_members(thing):
        if name not in given:
            yield f"{where}.{name}{parameters_of(member)}"


def is_plain(kind: type) -> bool:
    """True for a class that users do not make: an error, an enumeration or a protocol."""
    return issubclass(kind, BaseException | enum.Enum) or getattr(kind, "_is_protocol", False)


def public_members(kind: type) -> Iterator[tuple[str, Any]]:
    """Methods, properties, fields and attributes that our own classes define, with those of their bases."""
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] == "turnout":
            for name in {
                **vars(base),
                **inspect.get_annotations(base),
                **dict.fromkeys(attributes_set(base)),
            }:
                if not name.startswith("_"):
                    yield name, inspect.getattr_static(kind, name, None)


def attributes_set(kind: type) -> Iterator[str]:
    """The attributes that `__init__` sets; `session.history` is one."""
    if inspect.isfunction(vars(kind).get("__init__")):
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind.__init__)))  # type: ignore[misc]
        for node in ast.walk(tree):
            is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            if is_set and isinstance(node.value, ast.Name) and node.value.id == "self":  # type: ignore[attr-defined]
                yield node.attr  # type: ignore[attr-defined]


def parameters_of(thing: Any) -> str:
    """`(target, *, tools)`: the names of the parameters, as far as a caller can tell; empty for a value."""
    thing = getattr(thing, "__func__", thing)
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return ""
    shown = list(inspect.signature(thing).parameters.values())
    plain = [each.replace(annotation=each.empty, default=each.empty) for each in shown]
    plain = [each for each in plain if each.name not in ("self", "cls")]
    return "(" + ", ".join(marked_parameters(plain)) + ")"


def marked_parameters(parameters: list[inspect.Parameter]) -> Iterator[str]:
    """The names, with the `*` after which only keywords follow."""
    starred = False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not starred:
            yield "*"
        starred = starred or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        yield str(each)


if __name__ == "__main__":
    LIST.write_text("\n".join(surface_lines()) + "\n")
