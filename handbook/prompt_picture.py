"""The way of one prompt as a picture: down to the provider on the left, and back up on the right."""

from __future__ import annotations

from .svg import arrow, box, label, svg

DOWN = (
    ("append", "the prompt; open calls are sealed", "history/log.py"),
    ("render", "turns become messages", "rendering/transcript.py"),
    ("encode", "messages become bytes", "wire/…/encoder.py"),
    ("send", "one HTTP request", "session/attempt.py"),
)
UP = (
    ("settle", "each outcome goes on record", "history/log.py"),
    ("schedule", "calls run as one batch", "tools/schedule/"),
    ("build", "events become one turn", "streaming/reply.py"),
    ("decode", "bytes become events", "wire/…/decoder.py"),
)
WIDTH, BOX, HEIGHT, GAP, TOP = 520, 220, 58, 22, 62


def draw_prompt_picture() -> str:
    """The four steps on each side, the provider below them, and the log above."""
    left, right = 20 + BOX / 2, WIDTH - 20 - BOX / 2
    parts = [
        label(left, 28, "session.run(prompt)", "code", "middle"),
        arrow((left, 36), (left, TOP)),
        label(right, 28, "a turn without calls: Complete", "code", "middle"),
        arrow((right, TOP), (right, 36)),
        arrow((right - BOX / 2, TOP + HEIGHT / 2), (left + BOX / 2, TOP + HEIGHT / 2)),
    ]
    for x, steps, goes_down in ((left, DOWN, True), (right, UP, False)):
        for at, (name, what, place) in enumerate(steps):
            y = _height_of(at)
            parts += _step(x, y, name, what, place)
            ends = (x, y + HEIGHT), (x, y + HEIGHT + GAP)
            parts.append(arrow(*(ends if goes_down else ends[::-1])))
    y = _height_of(len(DOWN))
    parts += [
        box(20, y, WIDTH - 40, 40),
        label(WIDTH / 2, y + 25, "any provider, another one at any turn", "name", "middle"),
    ]
    return svg(WIDTH, int(y) + 60, "The way of one prompt", parts)


def _height_of(step: int) -> float:
    return TOP + step * (HEIGHT + GAP)


def _step(x: float, y: float, name: str, what: str, place: str) -> list[str]:
    kind = "box" if name in ("send", "schedule") else "pure"
    return [
        box(x - BOX / 2, y, BOX, HEIGHT, kind),
        label(x, y + 19, name, "name", "middle"),
        label(x, y + 35, what, "small", "middle"),
        label(x, y + 50, place, "small", "middle"),
    ]
