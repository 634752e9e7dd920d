"""Small helpers for rendered blocks that every protocol needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...model import Content, Media, Message, Opaque, Text, Thinking, ToolResponse, block_text


def is_blank(text: str) -> bool:
    """Whether a text is empty or white space. Unlike `strip`, this does not copy a long text."""
    return not text or text.isspace()


def nonblank(blocks: Iterable[Any]) -> list[Any]:
    """The blocks without blank texts: every API refuses those somewhere (ANT-10)."""
    return [block for block in blocks if not isinstance(block, Text) or not is_blank(block.text)]


def text_of_blocks(blocks: Iterable[Any]) -> str:
    return "\n\n".join(block_text(block) for block in nonblank(blocks))


def as_reminder(text: str) -> str:
    """System text in mid conversation, for APIs that take it only from the user."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def is_failed(response: ToolResponse) -> bool:
    """Whether the call failed. A call that the user refused did not: the refusal is its result."""
    return response.outcome.status not in ("complete", "denied")


def response_text(
    response: ToolResponse, *, marks_errors: bool = False, without: Sequence[Content] = ()
) -> str:
    """The text of a result, never empty. `marks_errors` is for APIs without a flag for failure.

    `without` are the parts that are sent beside the text.
    """
    content = response.outcome.content
    if len(content) == 1 and isinstance(only := content[0], Text):
        text = only.text
    else:
        spoken = [block for block in content if not isinstance(block, Media) and block not in without]
        text = "\n".join(said for said in map(block_text, spoken) if said)
    if is_blank(text):
        text = "[see the attached media]"
    if marks_errors and response.outcome.status == "error" and "error" not in text[:40].lower():
        return f"Error: {text}"
    return text


def response_media(response: ToolResponse) -> list[Media]:
    return [block for block in response.outcome.content if isinstance(block, Media)]


def response_parts(response: ToolResponse) -> list[Media | Opaque]:
    """The parts of a result that are not text: media, and blocks that this provider understands."""
    return [
        block
        for block in response.outcome.content
        if isinstance(block, Media) or (isinstance(block, Opaque) and block.residue is not None)
    ]


def base64_url(media: Media) -> str:
    return f"data:{media.mime};base64,{media.data}"


def thoughts(blocks: Iterable[Any]) -> list[Thinking]:
    return [block for block in blocks if isinstance(block, Thinking)]


def has_private_state(message: Message) -> bool:
    """Whether a block of the message carries residue. Most messages do not."""
    return any(getattr(block, "residue", None) for block in message.blocks)


def note_once(changes: list[str], line: str) -> None:
    """Add a line that applies to all messages, once."""
    if line not in changes:
        changes.append(line)
