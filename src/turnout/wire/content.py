"""Small readings of rendered blocks that every protocol makes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model import Media, Text, Thinking, ToolResponse, block_text


def blank(text: str) -> bool:
    """Whether a text says nothing; unlike `strip`, this makes no copy of a long one."""
    return not text or text.isspace()


def nonblank(blocks: Iterable[Any]) -> list[Any]:
    """The blocks without texts that say nothing: every API refuses them somewhere."""
    return [block for block in blocks if not isinstance(block, Text) or not blank(block.text)]


def joined(blocks: Iterable[Any]) -> str:
    return "\n\n".join(block_text(block) for block in nonblank(blocks))


def as_reminder(text: str) -> str:
    """System text in mid conversation, for APIs that only hear it from the user."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def failed(response: ToolResponse) -> bool:
    """Whether the call went wrong. One that the user refused did not: the refusal is its result."""
    return response.outcome.status not in ("complete", "denied")


def response_text(response: ToolResponse, *, marks_errors: bool = False) -> str:
    """The text of a result, never empty. `marks_errors` for APIs without a flag for failure."""
    content = response.outcome.content
    if len(content) == 1 and isinstance(only := content[0], Text):
        text = only.text
    else:
        texts = [block_text(block) for block in content if not isinstance(block, Media)]
        text = "\n".join(text for text in texts if text)
    if blank(text):
        text = "[see the attached media]"
    if marks_errors and response.outcome.status == "error" and "error" not in text[:40].lower():
        return f"Error: {text}"
    return text


def response_media(response: ToolResponse) -> list[Media]:
    return [block for block in response.outcome.content if isinstance(block, Media)]


def in_words(media: Media) -> str:
    """A medium that the API has no part for: what it is, and where it lies."""
    return f"{block_text(media)} {media.uri}" if media.uri else block_text(media)


def base64_url(media: Media) -> str:
    return f"data:{media.mime};base64,{media.data}"


def thoughts(blocks: Iterable[Any]) -> list[Thinking]:
    return [block for block in blocks if isinstance(block, Thinking)]
