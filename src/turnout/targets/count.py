"""About how many tokens a conversation takes at a target, for clients that ask before they send.

An estimate: no tokenizer is loaded. Letters of Latin scripts make about four to a token, others fewer.
Providers add a few tokens for each message and each tool.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..declarations import specs_of
from ..history.log import History
from ..model import Block, Media, Message, Origin, ToolResponse, ToolSpec, block_text
from ..plain import dumps
from ..rendering.image_size import size_of
from .request import transcript
from .target import Target

LETTERS_A_TOKEN = 4
OTHERS_A_TOKEN = 1.5  # Chinese, Japanese, emoji: one or two characters a token
MESSAGE = 4
TOOL = 8
IMAGE_PIXELS_A_TOKEN = 750  # Anthropic's rule; the other providers are near it
LEAST_IMAGE, MOST_IMAGE = 85, 1_600
BYTES_A_TOKEN = 24  # of base64: sound, documents


def count(history: History, target: str | Origin | Target, tools: Iterable[Any] = ()) -> int:
    """The tokens of the next request to `target`, estimated. Without `tools`, those of the history count."""
    specs = specs_of(tools) or list(history.tools)
    said = sum(_message_tokens(message) for message in transcript(history, target).messages)
    return text_tokens(history.system) + said + sum(map(_tool_tokens, specs))


def text_tokens(text: str) -> int:
    """The tokens of a text, rounded up."""
    if text.isascii():
        return -(-len(text) // LETTERS_A_TOKEN)
    latin = sum(letter < "\u0250" for letter in text)
    return round(latin / LETTERS_A_TOKEN + (len(text) - latin) / OTHERS_A_TOKEN + 0.5)


def _message_tokens(message: Message) -> int:
    return MESSAGE + sum(_block_tokens(block) for block in message.blocks)


def _block_tokens(block: Block | ToolResponse) -> int:
    if isinstance(block, ToolResponse):
        return MESSAGE + sum(_block_tokens(inner) for inner in block.outcome.content)
    if isinstance(block, Media):
        return _media_tokens(block)
    return text_tokens(block_text(block))


def _media_tokens(media: Media) -> int:
    if not media.mime.startswith("image/"):
        return max(len(media.data) // BYTES_A_TOKEN, LEAST_IMAGE)
    size = size_of(media) if media.data else None
    if size is None:
        return MOST_IMAGE
    width, height = size
    return min(max(width * height // IMAGE_PIXELS_A_TOKEN, LEAST_IMAGE), MOST_IMAGE)


def _tool_tokens(spec: ToolSpec) -> int:
    return TOOL + text_tokens(spec.name + spec.description + dumps(spec.parameters))
