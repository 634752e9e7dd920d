"""One block of a turn as HTML. A page shows a part of a long text; an export shows all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct

from ....model import Code, Content, Media, Opaque, block_text
from ..clean_text import one_line
from .markdown import code_html, markdown_html, plain_html
from .masked_json import SEALED_FROM, without_sealed

if TYPE_CHECKING:
    from .calls import CallView

SHOWN = 12_000
"""Characters of one text that a page shows."""
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What a browser may draw. SVG is not among them: it can hold scripts."""


class BlockView(Struct):
    """One block as HTML. `left_out` characters are not shown; `call` is set for a call."""

    kind: str
    html: Markup = Markup("")
    title: str = ""
    left_out: int = 0
    call: CallView | None = None
    image: str = ""  # where the image is
    size: int = 0


class BlockWriter(Struct, frozen=True):
    """Writes blocks. Without `media_base` images are put into the page itself, and texts are whole."""

    media_base: str = ""

    @property
    def shows_all(self) -> bool:
        return not self.media_base

    def text(self, text: str, kind: str) -> BlockView:
        shown, left_out = self.shown_part(text)
        return _view(kind, markdown_html(shown), "", left_out)

    def result(self, text: str) -> BlockView:
        shown, left_out = self.shown_part(text)
        return _view("result", code_html(shown), "", left_out)

    def content(self, block: Content, place: str) -> BlockView:
        """What a user or a tool sent; `place` names it in the address of its image."""
        match block:
            case Media():
                return self._media(block, place)
            case Code():
                return self._code(block)
            case Opaque():
                shown, left_out = self.shown_part(block.text)
                return _view("opaque", plain_html(shown), one_line(block.kind, 80), left_out)
        return self.text(block.text, "text")

    def shown_part(self, text: str) -> tuple[str, int]:
        """What of a text is shown, and how many characters are not."""
        if self.shows_all or len(text) <= SHOWN:
            return without_sealed(text), 0
        # The cut must not leave a beginning of sealed state that is too short to be known as such.
        return without_sealed(text[: SHOWN + SEALED_FROM])[:SHOWN], len(text) - SHOWN

    def _code(self, block: Code) -> BlockView:
        source, left_out = self.shown_part(block.source)
        output, more = self.shown_part(block.output)
        html = code_html(source, block.language.lower()) + (f"\n{code_html(output)}" if output else "")
        return _view("code", html, one_line(block.language, 40), left_out + more)

    def _media(self, media: Media, place: str) -> BlockView:
        title = one_line(f"{media.mime} {media.name}".strip(), 120)
        view = _view("media", plain_html(one_line(block_text(media), 300)), title, 0)
        if media.mime in IMAGES and media.data:
            if self.media_base:
                view.image = f"{self.media_base}/{place}"
            else:
                view.image = f"data:{media.mime};base64,{_base64_only(media.data)}"
                view.size += len(media.data)
        return view


def _view(kind: str, html: str, title: str, left_out: int) -> BlockView:
    return BlockView(kind, Markup(html), title, left_out, size=len(html) + 200)


def _base64_only(data: str) -> str:
    return "".join(letter for letter in data if letter.isascii() and (letter.isalnum() or letter in "+/="))
