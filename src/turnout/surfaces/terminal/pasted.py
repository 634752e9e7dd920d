"""What the user pasted or dropped: long texts and images, each with a short sign in the input line.

`[pasted 200 lines]` stands for a text, `[image shot.png]` for an image. The signs are replaced when
the prompt is sent, so the input line stays readable and nothing is lost.
"""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ...model import Block, Media, Text

MANY_LINES = 10
MANY_CHARACTERS = 1_000
LARGEST_IMAGE = 5 * 1024 * 1024
MOST = 100
"""Parts that are remembered; the oldest are forgotten first."""

_SIGN = re.compile(r"\[(?:pasted|image) [^\[\]\n]{1,120}\]")


class PastedParts:
    """The parts that stand behind the signs of one conversation."""

    def __init__(self) -> None:
        self._parts: dict[str, str | Media] = {}

    def sign_for_text(self, text: str) -> str:
        """What goes into the input line for a pasted text: the text itself while it is short."""
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines <= MANY_LINES and len(text) <= MANY_CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return self._remember_part(f"pasted {size}", text)

    def sign_for_image(self, data: bytes, name: str) -> str:
        """The sign of an image; "" if the data is not an image that models read."""
        if not (mime := image_type(data)):
            return ""
        encoded = b64encode(data).decode()
        return self._remember_part(f"image {name}", Media(mime, encoded, name=name))

    def _remember_part(self, words: str, part: str | Media) -> str:
        sign, number = f"[{words}]", 1
        while self._parts.get(sign, part) != part:
            number += 1
            sign = f"[{words}, {number}]"
        self._parts[sign] = part
        while len(self._parts) > MOST:
            del self._parts[next(iter(self._parts))]
        return sign

    def whole_text(self, line: str) -> str:
        """The line with every pasted text in its place; images keep their signs."""

        def text_behind(found: re.Match[str]) -> str:
            part = self._parts.get(found[0])
            return part if isinstance(part, str) else found[0]

        return _SIGN.sub(text_behind, line)

    def blocks_of(self, line: str) -> tuple[Block, ...]:
        """What is sent for a line: its whole text, then its images."""
        parts = [self._parts.get(sign) for sign in dict.fromkeys(_SIGN.findall(line))]
        return Text(self.whole_text(line)), *(part for part in parts if isinstance(part, Media))


def image_type(data: bytes) -> str:
    """The media type of an image; "" for anything else."""
    from ...history.ingest.media import sniff_mime  # with the readers of every format

    mime = sniff_mime(b64encode(data[:3072]).decode()) or ""
    return mime if mime.startswith("image/") and len(data) <= LARGEST_IMAGE else ""


def dropped_path(pasted: str) -> Path | None:
    """The file that was dropped on the terminal, which pastes its path: quoted, escaped, or as a URL."""
    text = pasted.strip()
    if not text or "\n" in text or len(text) > 4096:
        return None
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    elif text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    else:
        text = re.sub(r"\\(.)", r"\1", text)
    path = Path(text)
    try:
        return path if path.is_absolute() and path.is_file() else None
    except (OSError, ValueError):
        return None
