"""What never gets into a cassette: keys, tokens, and whatever an answer quotes of them.

A secret is known by its value (the key of this very request, variables of the environment with a telling
name, what the user names) and looked for in every spelling; what only looks like a key goes too. A chunk
may end in the middle of one, so bodies are searched whole and cut again where they were cut.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..errors import UsageError
from ..wire.shared.redaction import key_spans
from ..world.secrets import MARK, spellings_of

KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")
"""Of an answer: what decides how it is read. Ids, dates, accounts and cookies would only differ each time."""
_SECRET_FIELD = re.compile(
    rb'("(?:token|access_token|refresh_token|id_token|api_key|client_secret|password)"\s*:\s*")([^"\\]+)(?=")'
)


class CassetteRedactor:
    """Takes secrets out of bodies. `secrets` are values; all their spellings are looked for."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._spellings = [text.encode() for text in spellings_of(frozenset(secrets))]

    def redact(self, body: bytes) -> bytes:
        """A whole body without secrets."""
        return b"".join(self.redact_chunks([body]))

    def redact_chunks(self, chunks: Sequence[bytes]) -> list[bytes]:
        """The chunks of one body without secrets. A mark stands in the chunk where the secret began."""
        body = b"".join(chunks)
        spans = _joined_spans([*self._known_spans(body), *_field_spans(body), *_likely_spans(body)])
        if not spans:
            return list(chunks)
        made, start = [], 0
        for chunk in chunks:
            end = start + len(chunk)
            made.append(_without_spans(body, start, end, spans))
            start = end
        return made

    def _known_spans(self, body: bytes) -> Iterator[tuple[int, int]]:
        for spelling in self._spellings:
            at = body.find(spelling)
            while at >= 0:
                yield at, at + len(spelling)
                at = body.find(spelling, at + len(spelling))

    def check_pieces(self, chunks: Sequence[bytes], url: str) -> None:
        """Raise where the events of a stream spell a secret together that stands in none of them alone."""
        for text in _texts_by_place(b"".join(chunks)):
            if any(spelling in text for spelling in self._spellings):
                raise UsageError(
                    f"the answer of {url} spells a secret over several events, and cannot be recorded "
                    "without it; change the prompt so that the model does not repeat it"
                )


def _field_spans(body: bytes) -> Iterator[tuple[int, int]]:
    """The values of fields that hold a token, in answers to a sign-in."""
    for found in _SECRET_FIELD.finditer(body):
        yield found.span(2)


def _likely_spans(body: bytes) -> Iterator[tuple[int, int]]:
    """What looks like a key. It ends before a backslash: the quote behind one belongs to the JSON."""
    text = body.decode("latin-1")  # a letter for a byte, so that places are the same
    for start, end in key_spans(text):
        cut = text.find("\\", start, end)
        yield start, end if cut < 0 else cut


def _joined_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return joined


def _without_spans(body: bytes, start: int, end: int, spans: list[tuple[int, int]]) -> bytes:
    """`body[start:end]` without the spans, each marked where it begins."""
    made, at = [], start
    for left, right in spans:
        if right <= start or left >= end:
            continue
        made.append(body[at : max(left, at)])
        if left >= start:
            made.append(MARK.encode())
        at = min(right, end)
    return b"".join([*made, body[at:end]])


def _texts_by_place(stream: bytes) -> list[bytes]:
    """The texts of all events that stand at the same place, joined: what a reader of the stream reads."""
    texts: dict[str, list[str]] = defaultdict(list)
    for line in stream.splitlines():
        try:
            value = json.loads(line.removeprefix(b"data:"))
        except ValueError:
            continue
        _collect_texts(value, "", texts)
    return ["".join(parts).encode("utf-8", "replace") for parts in texts.values() if len(parts) > 1]


def _collect_texts(value: Any, place: str, texts: dict[str, list[str]]) -> None:
    match value:
        case str():
            texts[place].append(value)
        case dict():
            for name, below in value.items():
                _collect_texts(below, f"{place}.{name}", texts)
        case list():
            for below in value:
                _collect_texts(below, place, texts)
