"""How large an image Anthropic Messages takes, alone and among many (ANT-33)."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import Media
from ...rendering.image_size import size_of
from .anthropic_view import Block, Request, Rule
from .problem import Level, Problem
from .view import mapping, text

MAX_EDGE = 8_000
MANY = 20
MAX_EDGE_OF_MANY = 2_000
MAX_BYTES = 5 * 1024 * 1024  # of base64
MOST_BYTES = 2 * MAX_BYTES  # some accounts were given so much since


def images_fit(request: Request) -> Iterator[Problem]:
    """ANT-33: images behind a link count among the many, but nothing here shows their size."""
    images = [block for block in request.all_blocks() if block.type == "image"]
    among, most = (" for many-image requests", MAX_EDGE_OF_MANY) if len(images) > MANY else ("", MAX_EDGE)
    for image in images:
        source = mapping(image.raw.get("source"))
        data = text(source.get("data"))
        if source.get("type") != "base64" or not data:
            continue
        yield from _byte_problems(image, len(data))
        size = size_of(Media(text(source.get("media_type")), data))
        if size is not None and max(size) > most:
            path = f"{image.path}.image.source.base64.data"
            answer = (
                f"{path}: At least one of the image dimensions exceed max allowed size{among}: {most} pixels"
            )
            yield Problem("ANT-33", path, answer, "scale the image down, or leave it out")


def _byte_problems(image: Block, length: int) -> Iterator[Problem]:
    if length > MAX_BYTES:
        path = f"{image.path}.image.source.base64"
        answer = f"{path}: image exceeds 5 MB maximum: {length} bytes > {MAX_BYTES} bytes"
        level: Level = "refused" if length > MOST_BYTES else "warning"
        yield Problem("ANT-33", path, answer, "scale the image down, or leave it out", level)


RULES: tuple[Rule, ...] = (images_fit,)
