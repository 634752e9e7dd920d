"""Ids in the style of each provider, and seals on its private state.

The same seed and the same order give the same ids. A seal looks like the signatures and
encrypted content of providers. A `Seal` with the same issuer can tell later whether it issued
one, for which model and content, without memory.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from hashlib import sha256
from typing import Literal

from ..wire.shared.reply import ALNUM

Verdict = Literal["genuine", "unknown", "other_model", "changed"]


class Mint:
    """Ids that never repeat."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self.count = 0

    def draw(self, prefix: str, length: int, letters: str = ALNUM) -> str:
        """The prefix and `length` letters."""
        self.count += 1
        number = int.from_bytes(_stretch_text(f"{self._seed}|{self.count}", length), "big")
        drawn = []
        for _ in range(length):
            number, place = divmod(number, len(letters))
            drawn.append(letters[place])
        return prefix + "".join(drawn)


HEADS = {
    "anthropic": b"\x12\xb5\x01\x0a\x46\x08\x05\x18\x02\x22\x40",
    "gemini": b"\x0a\x24\x01\xbe\x3e\xf6\xfb",
    "openai": b"\x80\x00\x00\x00\x00\x6a\x85\xbf",
}
"""The first bytes of real ones, by provider."""

_PART = 16


class Seal:
    """Signs private state of one issuer, and recognises it."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer

    def sign(self, style: str, model: str, content: str, serial: int) -> str:
        """A seal of this issuer and `model` on `content`."""
        salt = _digest(f"{serial}")
        parts = (salt, _digest(model), _digest(content), self._mark_of(salt, model, content))
        filler = _stretch_text(f"{self._issuer}|{serial}", 40 + min(len(content), 400))
        token = HEADS[style] + b"".join(parts) + filler
        return (urlsafe_b64encode if style == "openai" else b64encode)(token).decode()

    def verdict(self, token: object, style: str, model: str, content: str | None = None) -> Verdict:
        """Whether this issuer gave the token to this model, and for this content if it is given."""
        raw = _open_token(token, style)
        if raw is None:
            return "unknown"
        salt, model_mark, content_mark, mark = (raw[at : at + _PART] for at in range(0, 4 * _PART, _PART))
        if mark != self._keyed_digest(salt, model_mark, content_mark):
            return "unknown"
        if model_mark != _digest(model):
            return "other_model"
        return "changed" if content is not None and content_mark != _digest(content) else "genuine"

    def _mark_of(self, salt: bytes, model: str, content: str) -> bytes:
        return self._keyed_digest(salt, _digest(model), _digest(content))

    def _keyed_digest(self, *parts: bytes) -> bytes:
        return sha256(self._issuer.encode() + b"".join(parts)).digest()[:_PART]


def _open_token(token: object, style: str) -> bytes | None:
    if not isinstance(token, str):
        return None
    try:  # some clients write the other alphabet of base64
        raw = urlsafe_b64decode(token.replace("+", "-").replace("/", "_").encode())
    except (NotBase64, ValueError):
        return None
    head = HEADS[style]
    return raw[len(head) :] if raw.startswith(head) and len(raw) >= len(head) + 4 * _PART else None


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:_PART]


def _stretch_text(text: str, length: int) -> bytes:
    blocks = [sha256(f"{text}|{at}".encode()).digest() for at in range(length // 32 + 1)]
    return b"".join(blocks)[:length]
