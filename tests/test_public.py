"""The public names: listed once, loaded when used, stable, and known to type checkers."""

from __future__ import annotations

import collections.abc
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from tests.public_names import COMMAND, LIST, public_members, public_things, surface_lines

import turnout
from turnout.lazy_names import homes_of_names

SOURCE = Path(turnout.__file__).parent


def test_the_public_surface_is_the_one_on_the_list() -> None:
    """A name, a parameter or a method that comes or goes shows in a diff of the list."""
    changed = unified_diff(
        LIST.read_text().splitlines(), surface_lines(), "listed", "found", lineterm="", n=0
    )
    shown = "\n".join(changed)
    assert not shown, f"The public surface changed. If that is meant, run `{COMMAND}`.\n{shown}"


def test_each_name_stands_once_in_the_source() -> None:
    """`public.py` is import statements, one for each name, and `__init__.py` repeats none of them."""
    lines = (SOURCE / "public.py").read_text().split('"""')[2].split("\n")
    statements = [line for line in lines if line]
    assert all(line.startswith("from .") for line in statements)
    assert sorted(line.rpartition(" as ")[2] for line in statements) == sorted(homes_of_names())
    repeated = {name for name in homes_of_names() if f" {name}\n" in (SOURCE / "__init__.py").read_text()}
    assert not repeated


@pytest.mark.parametrize("name", sorted(homes_of_names()))
def test_every_name_can_be_imported(name: str) -> None:
    """`from turnout import NAME` gives what its home defines; `dir()` shows it."""
    found = getattr(turnout, name)
    home = sys.modules[homes_of_names()[name]]
    assert found is getattr(home, name) and name in dir(turnout)


def test_a_star_import_brings_the_names_and_not_the_modules() -> None:
    """`from turnout import *` does not shadow a user's own `tools` or `errors`."""
    assert {"Session", "render", "__version__"} <= set(turnout.__all__)
    assert not {"errors", "simulate", "tools", "workers"} & set(turnout.__all__)
    assert {"errors", "simulate", "tools", "workers"} <= set(dir(turnout))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """With the words that Python uses for any module; `from turnout import` makes an ImportError of it."""
    with pytest.raises(AttributeError, match="module 'turnout' has no attribute 'Sesion'"):
        _ = turnout.Sesion  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'Sesion'"):
        exec("from turnout import Sesion", {})


def test_names_are_found_without_source_text(tmp_path: Path) -> None:
    """An installation that holds compiled files only, as some bundlers make, has every name."""
    program = (
        "import compileall, pathlib, shutil, sys\n"
        f"home = pathlib.Path({str(tmp_path)!r}) / 'turnout'; home.mkdir()\n"
        f"for name in ('__init__', 'public', 'lazy_names', 'errors'):\n"
        f"    shutil.copy({str(SOURCE)!r} + f'/{{name}}.py', home)\n"
        "compileall.compile_dir(home, legacy=True, quiet=1)\n"
        "for path in home.glob('*.py'): path.unlink()\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import turnout\n"
        "print(len(turnout.__all__), turnout.__file__.endswith('pyc'), turnout.UsageError.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{len(turnout.__all__)} True UsageError\n", done.stderr


# Everything in a public signature is public, and says what it is

INNER = {
    "CancelFlag": "made by the scheduler for `ToolContext.cancelled`, which has only its own methods",
    "Dialect": "how a server differs from its API; data that only the encoders read",
    "Draft": "a reply in the making, given by `ReplyBuilder.open_text` and taken by `resume`",
    "HttpAnswer": "what `HttpTransport` gives for `Incoming`",
    "IdProjection": "the ids of one request; `WireRequest.ids` and `names` show them",
    "Job": "one prompt for one target, made by a `Pool` for itself",
    "Journal": "how a session writes; users call `Store.open`",
    "Protocol": "an API with its encoder and decoder; users name it by text",
    "Provider": "the data of a provider; users name it by text",
    "Reader": "what a target can read; made from a `Target`",
    "Route": "where a simulated request came in; `SimulatedRequest` shows its parts",
    "Run": "a run as its session drives it; users have `Events`",
    "SchemaCost": "measured by `@tool`",
    "SessionLog": "a part of a store; users call methods of `Store`",
    "Signature": "read from a function by `@tool`",
    "SimulatedAnswer": "what a simulated provider hands to the socket",
    "StoreBackend": "SQLite or PostgreSQL; users call `Store.at`",
    "Subagents": "the machinery behind the `task` tool; set by `Limits(subagents=…)`",
}
"""Types that public signatures name though users neither make nor read them, with the reason."""


def test_every_type_in_a_public_signature_is_exported() -> None:
    """Parameters, results and fields of public functions and classes can be annotated with public names."""
    public = {id(thing) for _, thing in public_things()}
    wrong = {
        f"{kind.__qualname__} in {where}"
        for where, hints in public_hints()
        for hint in hints.values()
        for kind in types_in(hint)
        if kind.__module__.startswith("turnout.") and id(kind) not in public and kind.__name__ not in INNER
    }
    assert not wrong, f"add them to public.py, or to INNER with the reason: {sorted(wrong)}"


def test_inner_types_are_in_use_and_not_exported() -> None:
    """The list of exceptions holds nothing that is public, or gone from all signatures."""
    named = {
        kind.__name__ for _, hints in public_hints() for hint in hints.values() for kind in types_in(hint)
    }
    assert set(INNER) <= named and not set(INNER) & set(turnout.__all__)


def test_every_public_name_says_what_it_is() -> None:
    """Names, methods and properties have a docstring of their own or of the class that they come from."""
    silent = [where for where, thing in documented_things() if not inspect.getdoc(thing)]
    assert not silent, f"write a docstring: {silent}"


def documented_things() -> Iterator[tuple[str, Any]]:
    for where, thing in public_things():
        if inspect.isclass(thing) or inspect.isfunction(thing):
            yield where, thing
        for name, member in public_members(thing) if inspect.isclass(thing) else ():
            if inspect.isfunction(function_of(member)):
                yield f"{where}.{name}", function_of(member)


def public_hints() -> Iterator[tuple[str, dict[str, Any]]]:
    """The type hints of what can be called, and of the fields of classes."""
    names = {name: getattr(turnout, name) for name in turnout.__all__}
    usual = {**vars(typing), **vars(collections.abc), **names}
    for where, thing in [*documented_things(), *made_things()]:
        module = sys.modules[thing.__module__]
        hints = typing.get_type_hints(inspect.unwrap(thing), {**usual, **vars(module)})
        yield where, {name: hint for name, hint in hints.items() if not name.startswith("_")}


def made_things() -> Iterator[tuple[str, Any]]:
    """The constructors that our own classes write out."""
    for where, thing in public_things():
        if inspect.isclass(thing) and inspect.isfunction(vars(thing).get("__init__")):
            yield f"{where}()", vars(thing)["__init__"]


def function_of(member: Any) -> Any:
    """The function behind a property, a class method or a cached property."""
    found = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    return getattr(found, "func", found)


def types_in(hint: Any) -> Iterator[type]:
    """The classes that a hint names, at any depth."""
    origin = typing.get_origin(hint)
    yield from (each for each in (hint, origin) if inspect.isclass(each))
    for part in typing.get_args(hint):
        for each in part if isinstance(part, list) else [part]:
            yield from types_in(each)
