"""Which images are named where one request holds more of them than a provider takes at their size.

Claude takes images of 8,000 pixels a side, but only 2,000 once a request holds more than 20. In a
session full of screenshots that would be the end of all of them. So the large ones of the
oldest turns are named in words until few enough are left: the newest are what the work is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import Media, Message
from .image_size import ImageLimit

STEP = 10
"""Images that give way at once: bytes already sent change only with every tenth new image."""


class ImageCrowd:
    """The images of a transcript, turn by turn."""

    def __init__(self, limit: ImageLimit) -> None:
        self.limit = limit
        self._turns: dict[str, tuple[int, int]] = {}  # by key: images, and how many of them are large
        self._crowded: frozenset[str] = frozenset()

    def count(self, turn_key: str, messages: Iterable[Message]) -> None:
        """Take in a turn as it is shown. One whose large images are named already was counted before."""
        if not self.limit.many or turn_key in self._crowded:
            return
        images = list(_images_in(messages))
        if images:
            large = sum(map(self.limit.is_too_large_among_many, images))
            self._turns[turn_key] = (len(images), large)

    def crowded_turns(self) -> frozenset[str]:
        """Keys of the turns whose large images give way."""
        total = sum(images for images, _ in self._turns.values())
        if not self.limit.many or total <= self.limit.many:
            self._crowded = frozenset()
            return self._crowded
        self._crowded = frozenset(self._oldest(total - self.limit.many))
        return self._crowded

    def _oldest(self, needed: int) -> Iterator[str]:
        """The oldest turns with so many large images; some more of them where many are left."""
        rounded = -(-needed // STEP) * STEP
        left = sum(large for _, large in self._turns.values())
        for key, (_, large) in self._turns.items():
            if needed <= 0 and (rounded <= 0 or left - large < STEP):
                return
            if large:
                yield key
                needed, rounded, left = needed - large, rounded - large, left - large


def _images_in(messages: Iterable[Message]) -> Iterator[Media]:
    for message in messages:
        shown = (block for item in message.responses for block in item.outcome.content)
        for block in shown if message.role == "tool" else message.blocks:
            if isinstance(block, Media) and block.mime.startswith("image/"):
                yield block
