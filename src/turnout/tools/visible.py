"""Text that a user decides on, with nothing in it that cannot be seen.

Characters that take no room, turn the reading direction, or look like a space without
being one are spelled out, and so are long stretches of blanks, which push what follows
out of sight. The rest stays as it is, in whatever script it is written.
"""

from __future__ import annotations

import re
import unicodedata

BLANKS = 12  # spaces in a row that are shown as they are
LINES = 3  # empty lines in a row
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
# Letters and marks that show as nothing or as a blank, though their category does not say so.
_HOLLOW = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_LONG_BLANK = re.compile(f"[ \t]{{{BLANKS + 1},}}")
_LONG_GAP = re.compile(f"\n{{{LINES + 2},}}")


def visible(text: str) -> str:
    """The text with everything that cannot be seen spelled out as <U+202E>; lines and tabs stay."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(letter if _is_seen(letter) else f"<U+{ord(letter):04X}>" for letter in text)
    text = _LONG_BLANK.sub(lambda found: f" <{len(found[0])} blanks> ", text)
    return _LONG_GAP.sub(lambda found: f"\n<{len(found[0]) - 1} empty lines>\n", text)


def _is_seen(letter: str) -> bool:
    if letter in " \n\t":
        return True
    return unicodedata.category(letter) not in _HIDDEN and not _HOLLOW.match(letter)
