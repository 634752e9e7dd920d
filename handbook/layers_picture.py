"""The layers as a picture, from the table that `tests/test_layers.py` checks the imports with."""

from __future__ import annotations

from tests.layers import MAY_IMPORT, PURE

from .svg import box, edge, label, svg

SAYS = {
    "surfaces": "command, terminal, gateway, pages",
    "workers": "prompts that any machine finishes",
    "simulate": "every provider on loopback",
    "session": "the way of one prompt",
    "testing": "scripts, cassettes, pytest plugin",
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
COLUMNS = {"testing": 0, "simulate": 0, "streaming": 0, "interchange": 2, "store": 2, "tools": 2}
"""Folders that do not stand in the middle."""

WIDE = "surfaces"
"""It imports almost everything, so it reaches over two columns, and its lines go straight down."""

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
    middle = WIDTH * 2 / 3 if name == WIDE else WIDTH * (1 + 2 * COLUMNS.get(name, 1)) / 6
    return middle, MARGIN + STEP * _row(name)


def _width(name: str) -> float:
    return BOX + WIDTH / 3 if name == WIDE else BOX


def _row(name: str) -> int:
    return max((_row(above) + 1 for above, below in BELOW.items() if name in below), default=0)


def _edges(places: dict[str, tuple[float, float]], bottom: float) -> list[str]:
    lowest = [(name, (places[name][0], bottom)) for name in BELOW if not BELOW[name]]
    pairs = [(name, places[below]) for name in BELOW for below in _nearest(name)]
    return [edge(_start(name, places[name], end), end, GAP) for name, end in [*pairs, *lowest]]


def _start(name: str, place: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Where a line leaves a folder: as near to its end as a wide folder allows."""
    reach = (_width(name) - BOX) / 2 + (MARGIN if name == WIDE else 0)
    return min(max(end[0], place[0] - reach), place[0] + reach), place[1] + HEIGHT


def _nearest(name: str) -> list[str]:
    """What a folder imports, but for what it reaches through another import."""
    through = {deep for below in BELOW[name] for deep in _reached(below)}
    return [below for below in BELOW[name] if below not in through]


def _reached(name: str) -> set[str]:
    return set(BELOW[name]).union(*(_reached(below) for below in BELOW[name]))


def _folders(places: dict[str, tuple[float, float]]) -> list[str]:
    parts = []
    for name, (x, y) in places.items():
        parts += _titled_box(
            x, y, _width(name), "pure" if name in PURE else "box", f"{name}/", SAYS.get(name, "")
        )
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
