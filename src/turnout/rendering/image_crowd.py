"""Which images become text in a request that holds more images than a provider takes at their size.

Claude takes images of 8,000 pixels a side, but only 2,000 if a request holds more than 20. A
session full of screenshots would then be refused. So text takes the place of the large images of
the oldest turns, until few enough are left. The newest images matter most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import Media, Message, ToolResponse
from .image_size import ImageLimit

STEP = 10
"""Images replaced at once: the bytes already sent change only with every tenth new image."""


class ImageCrowd:
    """The images of a transcript, turn by turn."""

    def __init__(self, limit: ImageLimit) -> None:
        self.limit = limit
        self._turns: dict[str, tuple[int, int]] = {}  # by key: images, and how many of them are large
        self._crowded: frozenset[str] = frozenset()

    def count(self, turn_key: str, messages: Iterable[Message]) -> None:
        """Count the images of a turn. A turn whose large images were replaced was counted before."""
        if not self.limit.many or turn_key in self._crowded:
            return
        if images := _images_in(messages):
            large = sum(map(self.limit.is_too_large_among_many, images))
            self._turns[turn_key] = (len(images), large)

    def crowded_turns(self) -> frozenset[str]:
        """Keys of the turns whose large images are replaced by text."""
        total = sum(images for images, _ in self._turns.values())
        if not self.limit.many or total <= self.limit.many:
            self._crowded = frozenset()
            return self._crowded
        self._crowded = frozenset(self._oldest(total - self.limit.many))
        return self._crowded

    def _oldest(self, needed: int) -> Iterator[str]:
        """The oldest turns with that many large images, rounded up to STEP if many are left."""
        rounded = -(-needed // STEP) * STEP
        left = sum(large for _, large in self._turns.values())
        for key, (_, large) in self._turns.items():
            if needed <= 0 and (rounded <= 0 or left - large < STEP):
                return
            if large:
                yield key
                needed, rounded, left = needed - large, rounded - large, left - large


def _images_in(messages: Iterable[Message]) -> list[Media]:
    media: list[Media] = []
    for message in messages:
        for block in message.blocks:
            if isinstance(block, Media):
                media.append(block)
            elif isinstance(block, ToolResponse):
                media += [part for part in block.outcome.content if isinstance(part, Media)]
    return [each for each in media if each.mime.startswith("image/")]
