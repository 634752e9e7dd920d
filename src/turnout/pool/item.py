"""One prompt of a pool, in the forms that people write: a text, content, an object of a JSONL file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from ..errors import UsageError
from ..model import Text, blocks_of
from ..parameters import NamedFields, check_names
from ..plain import dumps
from ..session.typed import Shape
from ..wire.options import Options


class PoolItem(Struct, frozen=True, kw_only=True, metaclass=NamedFields):
    """One prompt. `id` names it in the results; without one its content does.

    `system`, `output` and `options` are for this prompt, in place of or on top of those of the pool;
    `targets` are asked in place of the pool's. `meta` is yours, and comes back with the result.
    """

    prompt: Any  # a text, a block, or several
    id: str = ""
    system: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    output: Any = None
    targets: tuple[Any, ...] = ()
    meta: Any = None

    @property
    def text(self) -> str:
        """The words of the prompt."""
        return "\n\n".join(block.text for block in blocks_of(self.prompt) if isinstance(block, Text))

    def key(self, **around: Any) -> str:
        """A name for what is asked: the same prompt, asked in the same way, has the same key."""
        shape = Shape.of(self.output)
        asked = [
            msgspec.to_builtins(blocks_of(self.prompt)),
            self.system,
            msgspec.to_builtins(self.options, enc_hook=str),
            shape.schema if shape is not None else None,
            around,
        ]
        return hashlib.sha256(dumps(asked).encode()).hexdigest()[:16]


FIELDS = {
    "prompt": "prompt",
    "id": "id",
    "system": "system",
    "options": "options",
    "schema": "output",
    "models": "targets",
    "meta": "meta",
}
"""The fields of an object in a JSONL file."""


def item_of(given: Any) -> PoolItem:
    """A prompt in any form. Mistakes in an object are told with its fields."""
    if isinstance(given, PoolItem):
        return given
    if not isinstance(given, Mapping):
        return PoolItem(prompt=given)
    try:
        check_names("a prompt", "field", given, tuple(FIELDS), dict.fromkeys(("metadata", "label"), "meta"))
    except TypeError as error:
        raise UsageError(f"{error}; put fields of your own under meta") from None
    if not isinstance(given.get("prompt"), str) or not given["prompt"].strip():
        raise UsageError('an object needs a text in "prompt", such as {"prompt": "Say hello"}; add it')
    return _checked_item({FIELDS[name]: value for name, value in given.items() if value is not None})


def _checked_item(values: dict[str, Any]) -> PoolItem:
    kinds = {"id": (str, int), "system": str, "options": dict, "output": dict, "targets": list}
    for name, kind in kinds.items():
        if name in values and not isinstance(values[name], kind):  # type: ignore[arg-type]
            written = next(field for field, own in FIELDS.items() if own == name)
            raise UsageError(f"{written!r} of a prompt cannot be {values[name]!r}; correct it")
    if "id" in values:
        values["id"] = str(values["id"])
    if "targets" in values:
        values["targets"] = tuple(values["targets"])
    try:
        Options.of(values.get("options", {}))
    except TypeError as error:
        raise UsageError(f"{error}; correct the options of the prompt") from None
    Shape.of(values.get("output"))
    return PoolItem(**values)
