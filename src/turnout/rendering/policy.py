"""What a reader sees of a block, and the words for results that never came.

The wording depends on the status and on whether the call was started. The model must be able
to tell "did not run" from "may have taken effect".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from ..history.ledger import ToolInteraction
from ..ids import NAMES_OF_FORMAT, OPENAI_NAMES, NameFormat
from ..model import (
    CONTENT,
    UNKNOWN_KIND,
    AnyBlock,
    Block,
    Code,
    Content,
    Media,
    Opaque,
    Origin,
    Outcome,
    Residue,
    Text,
    Thinking,
    ToolCall,
    block_text,
    with_fields,
)
from .image_size import NO_LIMIT, ImageLimit
from .media import media_in_words, readable

WEB = ("http://", "https://")
EMPTY_RESULT = "[empty tool result]"
EMPTY_ERROR = "The tool failed and gave no message."

WORDING = {
    "stopped": (
        "This call was stopped before it returned. It may have taken effect: "
        "inspect the state of things before you try again."
    ),
    "did_not_run": "This call did not run.",
    "unknown": "No result of this call was recorded. Its outcome is unknown: inspect before you try again.",
    "denied": "The user refused this call. It did not run.",
}
"""The fixed words an `Outcome.reason` can be, and what the model reads for each."""


class Reader(Struct, frozen=True):
    """How one target reads: who it is, which ids and names it takes, what it can see."""

    origin: Origin
    id_format: str = "openai"
    names: NameFormat = OPENAI_NAMES
    thinking: Literal["omit", "as_text"] = "omit"
    media: tuple[str, ...] | None = None  # prefixes of MIME types it can read; None: all of them
    images: ImageLimit = NO_LIMIT
    links: str = ""  # a pattern of the addresses that it opens by itself, whatever their type
    opens_web: bool = True  # it opens addresses on the web
    keeps_raw_ids: bool = False  # it wants back the ids that it gave
    knows_tools: bool = True  # else all tool history is written as text
    flat_through: str = ""  # tool history up to this turn is written as text: a last resort

    @classmethod
    def of(cls, origin: Origin, id_format: str) -> Reader:
        names = NAMES_OF_FORMAT.get(id_format, OPENAI_NAMES)
        return cls(origin, id_format, names, keeps_raw_ids=id_format == "gemini")

    def owns(self, residue: Residue | None) -> bool:
        """Whether the target itself wrote this private state, or its provider understands it."""
        return residue is not None and residue.may_go_to(self.origin)

    def looks_at(self, address: str) -> bool:
        return bool(self.links) and re.match(self.links, address) is not None

    def sees(self, media: Media) -> bool:
        if media.mime == UNKNOWN_KIND:  # a link without a type is for targets that open links
            return self.owns(media.residue) or self.looks_at(media.uri)
        kind, _, form = media.mime.partition("/")
        if form == "*" and self.media is not None:  # a link of which only the kind is known
            return any(prefix.startswith(f"{kind}/") for prefix in self.media)
        return self.media is None or media.mime.startswith(self.media)


class Seen(Struct, frozen=True):
    """A block as the reader gets it; if it was changed, a diagnostic code and a detail."""

    block: Block | None
    code: str = ""
    detail: str = ""


def is_plain(block: Block) -> bool:
    """Whether every reader sees the block as it was written. Most blocks are: text and calls."""
    return block.residue is None and (
        not block.fault if isinstance(block, ToolCall) else isinstance(block, Text) and block.text != ""
    )


def visible(block: Block, reader: Reader) -> Seen:
    """What the reader sees of a block of a turn."""
    native = reader.owns(block.residue)
    match block:
        case Thinking():
            return Seen(block) if native else _foreign_thinking(block, reader)
        case Opaque():
            return Seen(block) if native else _foreign_opaque(block)
        case Media():
            return _visible_media(block, reader)
        case Code() if not native:
            return Seen(Text(block_text(block)), "code_as_text")
        case Text() if not block.text and not native:
            return Seen(None)
        case Text() if _loses_citations(block, native):
            return Seen(_without_foreign_residue(block, reader), "citations_omitted")
        case Text() | ToolCall() | Code():
            return Seen(_without_foreign_residue(block, reader))


def _without_foreign_residue(block: AnyBlock, reader: Reader) -> AnyBlock:
    """The block, without private state that is not the reader's."""
    return block if block.residue is None or reader.owns(block.residue) else with_fields(block, residue=None)


def _loses_citations(block: Text, native: bool) -> bool:
    """Anthropic takes citations back; OpenAI takes annotations only with the id of their message."""
    data = block.residue.data if block.residue is not None else None
    return isinstance(data, dict) and bool(data.get("annotations") or (not native and data.get("citations")))


def _foreign_thinking(block: Thinking, reader: Reader) -> Seen:
    if reader.thinking == "as_text" and block.text.strip():
        return Seen(Text(block.text), "thinking_as_text")
    return Seen(None, "thinking_omitted")


def _foreign_opaque(block: Opaque) -> Seen:
    # A tool that a provider ran cannot be translated, but its text can be shown.
    if block.text.strip():
        return Seen(Text(block.text), "opaque_as_text", block.kind)
    return Seen(None, "opaque_omitted", block.kind)


def _visible_media(block: Media, reader: Reader) -> Seen:
    found = readable(block)
    if isinstance(found, Media) and (why := _why_unreadable(found, reader)):
        found = media_in_words(found, why)
    elif isinstance(found, Media) and (excess := reader.images.excess_of(found)):
        return Seen(media_in_words(found, excess), "media_replaced", f"{block_text(block)}: {excess}")
    if isinstance(found, Text):
        return Seen(found, "media_replaced", block_text(block))
    details = [*_lost_details(found, reader), *_lost_name(found, reader)]
    if found.residue is not None and not reader.owns(found.residue):
        found = with_fields(found, residue=_details_for(reader, found))
    if details:
        return Seen(found, "media_details_omitted", ", ".join(details))
    is_same = found.mime == block.mime
    return Seen(found) if is_same else Seen(found, "media_corrected", f"{block.mime} is {found.mime}")


def _lost_details(media: Media, reader: Reader) -> list[str]:
    """What the history says on how to read a medium, in fields that this reader does not have."""
    data = media.residue.data if media.residue is not None else None
    if not isinstance(data, dict) or _understands_details(media, reader):
        return []
    around = [name for held in ("beside", "document") for name in data.get(held) or ()]
    around += [f"detail {data['detail']}"] if data.get("detail") not in (None, "auto") else []
    return [name for name in around if name != "title"]


NAMELESS = ("image/", "audio/", "video/")


def _lost_name(media: Media, reader: Reader) -> list[str]:
    """The name that a request gave a medium. Gemini's encoder sees to it itself; the others have none."""
    data = media.residue.data if media.residue is not None else None
    is_named = isinstance(data, dict) and data.get("named") is True
    is_lost = is_named and media.mime.startswith(NAMELESS) and reader.id_format != "gemini"
    return [f"file name {media.name}"] if is_lost else []


def _understands_details(media: Media, reader: Reader) -> bool:
    """Whether what a provider was told about a medium is for this reader, too."""
    residue = media.residue
    if residue is None or reader.owns(residue):
        return True
    # Chat and Responses of OpenAI have one word for how closely to look at an image.
    is_detail = isinstance(residue.data, dict) and residue.data.keys() == {"detail"}
    return is_detail and residue.origin.shares_account(reader.origin)


def _details_for(reader: Reader, media: Media) -> Residue | None:
    """What another API of the same account was told about a medium, as if the reader had been told."""
    residue = media.residue
    if residue is None or not _understands_details(media, reader):
        return None
    return Residue(reader.origin, residue.data, residue.scope)


def _why_unreadable(media: Media, reader: Reader) -> str:
    """Why this reader cannot see the medium; "" if it can."""
    residue = media.residue
    if residue is not None and residue.scope == "account" and not reader.owns(residue):
        return f"only its account at {residue.origin.provider} can read it"
    if media.uri and not media.uri.startswith(WEB) and not reader.looks_at(media.uri):
        return "its address is not on the web"
    if media.uri.startswith(WEB) and not media.data and not reader.opens_web:
        return "this provider opens no links"
    return "" if reader.sees(media) else "this model cannot read it"


def readable_outcome(
    interaction: ToolInteraction,
    outcome: Outcome,
    reader: Reader,
    shortened: str | None,
    changed: list[Seen],
) -> Outcome:
    """The outcome as a model reads it: never empty, and clear about what did not happen.

    Blocks that the reader sees in another form are added to `changed`.
    """
    if shortened is None and _is_readable(outcome):
        return outcome
    reason = outcome.reason or _reason(interaction, outcome)
    shown = outcome.content if shortened is None else (Text(shortened),)
    content = tuple(_readable(shown, reader, changed))
    if outcome.status in ("interrupted", "cancelled", "denied"):
        content = tuple(_content_with_explanation(outcome.status, reason, content))
    if not any(isinstance(block, Media) or block_text(block).strip() for block in content):
        content = (Text(EMPTY_ERROR if outcome.status == "error" else EMPTY_RESULT),)
    return Outcome(outcome.status, content, outcome.synthetic, reason)


def _is_readable(outcome: Outcome) -> bool:
    """Whether it can be read as it is. Most can: a tool ran and returned text."""
    if outcome.status not in ("complete", "error") or not outcome.content:
        return False
    said = False
    for block in outcome.content:
        if not isinstance(block, Text) or block.residue is not None:
            return False
        said = said or (block.text != "" and not block.text.isspace())
    return said


def _reason(interaction: ToolInteraction, outcome: Outcome) -> str:
    if outcome.status == "denied":
        return "denied"
    if outcome.status in ("cancelled", "interrupted"):
        return "stopped" if interaction.started else "unknown"
    return ""


def _readable(content: tuple[Content, ...], reader: Reader, changed: list[Seen]) -> Iterator[Content]:
    for block in content:
        seen = _readable_in_result(block, reader)
        if seen.code:
            changed.append(seen)
        if isinstance(seen.block, CONTENT):
            yield seen.block


def _readable_in_result(block: Content, reader: Reader) -> Seen:
    match block:
        case Media():
            return _visible_media(block, reader)
        case Code():
            return Seen(Text(block_text(block)))
        case Opaque():
            return Seen(block) if reader.owns(block.residue) else _foreign_opaque(block)
        case Text():
            return Seen(_without_foreign_residue(block, reader))


def _content_with_explanation(status: str, reason: str, content: tuple[Content, ...]) -> Iterator[Content]:
    lead = "The user cancelled. " if status == "cancelled" else ""
    yield Text(lead + WORDING.get(reason, WORDING["unknown"]))
    yield from (block for block in content if not isinstance(block, Text) or block.text.strip())
