"""A misspelt parameter is a `TypeError` that names the nearest one.

Functions and values that users write out by name are checked here, so that a typing error
fails at once and never becomes a setting without effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from msgspec import StructMeta

P = ParamSpec("P")
T = TypeVar("T")


class NamedFields(StructMeta):
    """The metaclass of a struct whose constructor names the nearest field."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        check_names(f"{cls.__name__}()", "field", kwargs, cls.__struct_fields__)
        return super().__call__(*args, **kwargs)


def with_checked_names(**groups: StructMeta) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Check the keywords of a function. `groups` are its parameters that are structs, with their types."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        code = function.__code__
        taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        known = tuple(name for name in taken if name != "self")
        places = {
            name: f"{group}={kind.__name__}({name}=…)"
            for group, kind in groups.items()
            for name in kind.__struct_fields__
        }

        @wraps(function)
        def call_checked(*args: P.args, **kwargs: P.kwargs) -> T:
            caller = function.__qualname__.removesuffix(".__init__")
            check_names(f"{caller}()", "parameter", kwargs, known, places)
            return function(*args, **kwargs)

        return call_checked

    return decorate


def check_names(
    where: str, what: str, given: Iterable[str], known: Sequence[str], places: Mapping[str, str] | None = None
) -> None:
    """Raise `TypeError` for the first name that is not known. `places` are names that belong elsewhere."""
    for name in given:
        if name not in known:
            raise TypeError(f"{where} has no {what} {name!r}; {_hint(name, known, places or {})}")


def _hint(name: str, known: Sequence[str], places: Mapping[str, str]) -> str:
    if name in places:
        return f"give {places[name]}"
    from difflib import get_close_matches  # only needed for a mistake

    near = get_close_matches(name, [*known, *places], n=1)
    if not near:
        return f"it has {', '.join(known)}"
    return f"did you mean {places.get(near[0], near[0]) if near[0] not in known else near[0]}?"
