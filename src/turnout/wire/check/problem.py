"""What a checker says: one rule that one body breaks, and where.

The answer is the provider's own text with the values of this body filled in, so that
someone with an error in hand recognises it; the advice is the way on.
"""

from msgspec import Struct


class Problem(Struct, frozen=True):
    """One thing in a request body that its provider would refuse."""

    rule: str
    path: str
    answer: str
    advice: str
