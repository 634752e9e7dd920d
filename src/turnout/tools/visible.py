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


_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_VARIANTS = range(0xE0100, 0xE01F0)  # choose the form of a Chinese character
_CHINESE = range(0x3400, 0x40000)
_JOINERS = "\u200c\u200d"
_FIRST_OF_JOINED_SCRIPTS = 0x600  # Arabic; the scripts that need joiners come after it


def spell_hidden(text: str) -> str:
    """The text with bidirectional and zero-width characters spelled out, for texts that are read.

    Joiners stay where writing needs them: inside an emoji, and between letters of Arabic, Indic
    and other scripts whose letters join. So do the forms of Chinese characters.
    """
    return _UNSEEN.sub(lambda found: _spelled(text, found.start()), text)


def _spelled(text: str, at: int) -> str:
    if text[at] in _JOINERS and 0 < at < len(text) - 1 and _are_joined(text[at - 1], text[at + 1]):
        return text[at]
    if ord(text[at]) in _VARIANTS and at and ord(text[at - 1]) in _CHINESE:
        return text[at]
    return f"<U+{ord(text[at]):04X}>"


def _are_joined(before: str, after: str) -> bool:
    if unicodedata.category(after) == "So":
        return before == "\ufe0f" or unicodedata.category(before) in ("So", "Sk")
    letters = all(unicodedata.category(letter)[0] in "LM" for letter in (before, after))
    return letters and min(ord(before), ord(after)) >= _FIRST_OF_JOINED_SCRIPTS


def _is_seen(letter: str) -> bool:
    if letter in " \n\t":
        return True
    return unicodedata.category(letter) not in _HIDDEN and not _HOLLOW.match(letter)
