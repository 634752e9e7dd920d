"""Private state of a provider as a token that a client carries: sealed, so that only we can write one.

A token is base64 in any alphabet (Google's SDK decodes and encodes it again) and begins with
`turnout1`: the version. Inside is AES-SIV, which needs no random number: the same state gives the same
token, today and on another host, so that what is sent upstream stays the same too.
"""

from __future__ import annotations

import os
import zlib
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from msgspec import Struct

from ...errors import UsageError
from ...model import Origin, Residue, Scope
from ...world.places import write_private

MARK = "turnout1"
MAGIC = b64decode(MARK)
MAX_STATE = 4 * 1024 * 1024
"""Bytes that a token may unfold to."""
PURPOSE = b"turnout gateway state"
VARIABLE = "TURNOUT_GATEWAY_SEALING_KEY"


class HiddenThinking(Struct, frozen=True, array_like=True):
    """Thinking before a block, which the client is not shown or does not send back."""

    text: str
    data: Any = None


class SealedState(Struct, frozen=True, array_like=True):
    """Who wrote a block, its private state, and the thinking that stood before it."""

    provider: str
    endpoint: str
    model: str
    data: Any = None
    scope: Scope = "model"
    before: tuple[HiddenThinking, ...] = ()

    @property
    def origin(self) -> Origin:
        return Origin(self.provider, self.endpoint, self.model)

    @property
    def residue(self) -> Residue | None:
        return None if self.data is None else Residue(self.origin, self.data, self.scope)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SealedState).decode


class Sealer:
    """Seals and opens state with one key. Gateways with the same key read each other's tokens."""

    def __init__(self, key: bytes) -> None:
        # Any secret of enough length serves; both halves of the key of AES-SIV come from it.
        self._cipher = AESSIV(sha256(PURPOSE + key).digest() + sha256(key + PURPOSE).digest())

    def seal(self, state: SealedState) -> str:
        packed = zlib.compress(_encode(state), 6)
        return b64encode(MAGIC + self._cipher.encrypt(packed, [MAGIC, PURPOSE])).decode()

    def open(self, token: str) -> SealedState | None:
        """The state in a token; None for one that was forged, changed or sealed with another key."""
        try:
            raw = b64decode(token.translate(_STANDARD) + "=" * (-len(token) % 4), validate=True)
            unfolder = zlib.decompressobj()
            packed = unfolder.decompress(self._cipher.decrypt(raw[len(MAGIC) :], [MAGIC, PURPOSE]), MAX_STATE)
            return _decode(packed)
        except (InvalidTag, ValueError, Base64Error, zlib.error, msgspec.MsgspecError):
            return None


_STANDARD = str.maketrans("-_", "+/")


def is_token(value: Any) -> bool:
    """Whether a value looks like a token of ours, true or forged."""
    return isinstance(value, str) and value.startswith(MARK)


def sealing_key(given: str, file: str, own: Path) -> bytes:
    """The key: from the variable, the file of the configuration, or our own file, made on first use."""
    if given:
        return _checked_key(given, f"${VARIABLE}")
    if file:
        try:
            return _checked_key(Path(file).expanduser().read_text(), file)
        except OSError as error:
            raise UsageError(
                f"the sealing key cannot be read from {file}: {error.strerror}; check sealing_key_file"
            ) from None
    if not own.exists():
        write_private(own, os.urandom(32).hex() + "\n")
    return _checked_key(own.read_text(), str(own))


def _checked_key(text: str, source: str) -> bytes:
    key = text.strip().encode()
    if len(key) < 32:
        raise UsageError(f"the sealing key of {source} has {len(key)} characters; give 32 or more")
    return key
