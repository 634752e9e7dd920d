"""How large an image is, by the first fields of its file, and whether a provider takes one of that size.

A provider answers 400 to an image beyond its limits, and it does so again on every later turn,
since the image stays in the history. So it is named in words, and the session goes on.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from ..model import Media

_ENOUGH = 64  # characters of base64 that hold the size in every format but JPEG
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # the JPEG segments that hold the size
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})  # the JPEG markers without a length


class ImageLimit(Struct, frozen=True):
    """What a provider takes of one image; 0 where no limit is known."""

    characters: int = 0  # of base64
    edge: int = 0  # pixels of the longer side
    pixels: int = 0
    many: int = 0  # with more images than this in one request …
    edge_of_many: int = 0  # … the longer side may have so many pixels
    is_crowded: bool = False  # whether that is so here

    def crowded(self) -> ImageLimit:
        """What is taken of one image among many."""
        return replace(self, edge=self.edge_of_many, is_crowded=True)

    def is_too_large_among_many(self, media: Media) -> bool:
        return (size := size_of(media)) is not None and max(size) > self.edge_of_many

    def excess_of(self, media: Media) -> str:
        """Why the image is too large; "" where it is not, or where nothing shows its size."""
        if not media.mime.startswith("image/") or not media.data:
            return ""
        if self.characters and len(media.data) > self.characters:
            has, most = _millions(len(media.data)), _millions(self.characters)
            return f"it has {has} MB as base64, and this API takes {most}"
        if not (self.edge or self.pixels) or (size := size_of(media)) is None:
            return ""
        width, height = size
        if self.edge and max(size) > self.edge:
            among = f" in a request with more than {self.many} images" if self.is_crowded else ""
            return f"it is {width} x {height} pixels, and this API takes {self.edge} a side{among}"
        if self.pixels and width * height > self.pixels:
            has, most = _millions(width * height), _millions(self.pixels)
            return f"it has {has} million pixels, and this API takes {most}"
        return ""


NO_LIMIT = ImageLimit()


def size_of(media: Media) -> tuple[int, int] | None:
    """Width and height in pixels; None where the file does not say so."""
    read = _READERS.get(media.mime)
    if read is None:
        return None
    data = media.data if media.mime == "image/jpeg" else media.data[:_ENOUGH]
    try:
        return read(b64decode(data))
    except (ValueError, IndexError):
        return None


def _png(data: bytes) -> tuple[int, int] | None:
    return (_big(data[16:20]), _big(data[20:24])) if data[12:16] == b"IHDR" else None


def _gif(data: bytes) -> tuple[int, int]:
    return _little(data[6:8]), _little(data[8:10])


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return _little(data[24:27]) + 1, _little(data[27:30]) + 1
        case b"VP8L":
            bits = _little(data[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Segments follow each other until the one that holds the size, behind previews of any length."""
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        if marker == 0xFF:  # a byte of padding
            at += 1
        elif marker in _BARE:
            at += 2
        else:
            at += 2 + _big(data[at + 2 : at + 4])
    return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _millions(number: int) -> str:
    return f"{number / 1_000_000:.1f}"


_READERS: dict[str, Callable[[bytes], tuple[int, int] | None]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/webp": _webp,
    "image/jpeg": _jpeg,
}
