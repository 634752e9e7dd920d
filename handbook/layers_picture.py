"""The layers as a picture, from the table that `tests/test_layers.py` checks the imports with."""

from __future__ import annotations

from tests.layers import MAY_IMPORT, PURE

from .svg import box, edge, label, svg

SAYS = {
    "surfaces": "command, terminal, gateway, pages",
    "workers": "prompts that any machine finishes",
    "simulate": "every provider on loopback",
    "session": "the way of one prompt",
    "interchange": "other programs' sessions, exports",
    "telemetry": "counters, OpenTelemetry",
    "store": "sessions in a file or PostgreSQL",
    "targets": "render, decode, stream, receive",
    "world": "HTTP, keys, configuration",
    "tools": "declare, policy, schedule, confine",
    "providers": "data: addresses, keys, dialects",
    "wire": "a folder a protocol; check/",
    "rendering": "history as one target reads it",
    "streaming": "bytes to events to a turn",
    "history": "the log and its ledger; ingest",
}
COLUMNS = {"simulate": 0, "streaming": 0, "interchange": 2, "store": 2, "tools": 2}
"""Folders that do not stand in the middle."""

WIDTH, BOX, HEIGHT, GAP, MARGIN = 760, 212, 40, 24, 20
STEP = HEIGHT + GAP
BELOW = {name: tuple(below.split()) for name, below in MAY_IMPORT.items()}


def draw_layers_picture() -> str:
    """Each folder above what it imports; green folders are pure."""
    places = {name: _place(name) for name in BELOW}
    bottom = max(y for _, y in places.values()) + STEP
    title = "The folders of turnout, and what imports what"
    parts = [*_edges(places, bottom), *_folders(places), *_bottom_box(bottom)]
    return svg(WIDTH, bottom + HEIGHT + 36, title, parts)


def _place(name: str) -> tuple[float, float]:
    """The middle of the upper edge of a folder: below everything that imports it."""
    return WIDTH * (1 + 2 * COLUMNS.get(name, 1)) / 6, MARGIN + STEP * _row(name)


def _row(name: str) -> int:
    return max((_row(above) + 1 for above, below in BELOW.items() if name in below), default=0)


def _edges(places: dict[str, tuple[float, float]], bottom: float) -> list[str]:
    lowest = [(name, (places[name][0], bottom)) for name in BELOW if not BELOW[name]]
    pairs = [(name, places[below]) for name in BELOW for below in _nearest(name)]
    return [edge(_start(name, places[name], end), end, GAP) for name, end in [*pairs, *lowest]]


def _start(name: str, place: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """The top folder is as wide as the picture, so its lines go straight down."""
    return end[0] if _row(name) == 0 else place[0], place[1] + HEIGHT


def _nearest(name: str) -> list[str]:
    """What a folder imports, but for what it reaches through another import."""
    through = {deep for below in BELOW[name] for deep in _reached(below)}
    return [below for below in BELOW[name] if below not in through]


def _reached(name: str) -> set[str]:
    return set(BELOW[name]).union(*(_reached(below) for below in BELOW[name]))


def _folders(places: dict[str, tuple[float, float]]) -> list[str]:
    parts = []
    for name, (x, y) in places.items():
        wide = WIDTH - 2 * MARGIN if _row(name) == 0 else BOX
        parts += _titled_box(x, y, wide, "pure" if name in PURE else "box", f"{name}/", SAYS[name])
    return parts


def _bottom_box(y: float) -> list[str]:
    names = "model, ids, plain, errors, diagnostic and others"
    note = "Lines lead to what is imported. Green is pure: no clock, environment, socket or event loop."
    box_parts = _titled_box(WIDTH / 2, y, WIDTH - 2 * MARGIN, "pure", "the bottom", names)
    return [*box_parts, label(MARGIN, y + HEIGHT + 22, note, "small")]


def _titled_box(x: float, y: float, width: float, kind: str, title: str, text: str) -> list[str]:
    return [
        box(x - width / 2, y, width, HEIGHT, kind),
        label(x, y + 17, title, "name", "middle"),
        label(x, y + 33, text, "small", "middle"),
    ]
