"""What a tool needs and no model can give: a database, a client, a user. Found by its type.

    @tool
    def count_rows(database: Provided[Database], table: str) -> int: ...

    Session(..., tools=[count_rows], world=World(provides=[Database("…")]))

The model does not see such a parameter. A function reaches the same values by `ctx.provided_value(Database)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

from ...errors import UsageError

T = TypeVar("T")


class ProvidedMark:
    """Marks a parameter that the session fills."""


Provided: TypeAlias = Annotated[T, ProvidedMark()]
"""A parameter of a tool that the session fills, by its type: `database: Provided[Database]`."""


def provided_type(hint: Any) -> Any:
    """The type of a parameter that the session fills; None for a parameter of the model."""
    if get_origin(hint) is not Annotated:
        return None
    kind, *notes = get_args(hint)
    return kind if any(isinstance(note, ProvidedMark) for note in notes) else None


def find_provided(kind: Any, values: Sequence[Any], tool: str = "a tool") -> Any:
    """The value of exactly this type, else the first one of a subclass."""
    exact = next((value for value in values if type(value) is kind), None)
    if exact is not None:
        return exact
    expected = get_origin(kind) or kind
    for value in values:
        if isinstance(expected, type) and isinstance(value, expected):
            return value
    name = getattr(kind, "__name__", str(kind))
    raise UsageError(f"{tool} needs a {name}; give one: Session(world=World(provides=[…]))")


def check_provided(tools: Iterable[Any], values: Sequence[Any]) -> None:
    """Raise where a tool needs something that the session does not have."""
    for tool in tools:
        for kind in tool.signature.provided.values():
            find_provided(kind, values, f"tool {tool.name}")
