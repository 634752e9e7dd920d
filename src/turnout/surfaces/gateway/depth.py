"""How deep a body is nested, told without parsing it. Pure.

Parsers recurse, so the depth is checked before they run, in time that grows with the size of the body
only: pairs of brackets are taken out layer by layer. A text whose strings hold brackets that hide the
others from the first look meets the parser's own limit, and is refused there.
"""

from __future__ import annotations

MAX_DEPTH = 256
"""Levels of a body. Gemini's API refuses far less, and arguments of calls are kept to 200."""
MAX_BRACKETS = 1_000_000
"""Lists and objects of a body, twice: more of them would hold up all other requests."""
MAX_LAYERS = 16
MAX_LEFT = 100_000
"""Brackets below the first layers. More than that is an attack: each of them is looked at."""
OPENING = ord("[")

_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")


def is_too_deep(body: bytes) -> bool:
    """Whether the values of a JSON text are nested deeper than MAX_DEPTH, or are far too many."""
    # Brackets in strings are counted at first: leaving them out costs five times as much.
    return _has_deep_brackets(body) and _has_deep_brackets(_without_strings(body))


def _without_strings(body: bytes) -> bytes:
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    return b"".join(unescaped.split(b'"')[::2])


def _has_deep_brackets(text: bytes) -> bool:
    brackets = text.translate(_ONE_KIND, _NO_BRACKETS)
    if len(brackets) > MAX_BRACKETS:
        return True
    left, layers = _inner_brackets(brackets)
    if layers + len(left) <= MAX_DEPTH:
        return False
    return len(left) > MAX_LEFT or layers + _depth_of(left) > MAX_DEPTH


def _inner_brackets(brackets: bytes) -> tuple[bytes, int]:
    """The brackets without their innermost pairs, some layers of them; and how many layers that were."""
    for layers in range(MAX_LAYERS):
        outer = brackets.replace(b"[]", b"")
        if len(outer) == len(brackets):
            return brackets, layers
        brackets = outer
    return brackets, MAX_LAYERS


def _depth_of(brackets: bytes) -> int:
    deepest = level = 0
    for bracket in brackets:
        level += 1 if bracket == OPENING else -1
        deepest = max(deepest, level)
    return deepest
