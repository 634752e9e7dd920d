"""A reply before any provider's words for it, and what a protocol needs to write it.

A reply is a list of parts. Its author (`ReplyAuthor`) knows who answers: the model, its ids, its
signatures. The forms of a protocol turn both into bytes. The simulator plays a script this way, with the
oddities of real servers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol, TypeAlias

from msgspec import Struct, field

from ...errors import UsageError
from ...model import Stop, Usage
from .framing import Stream
from .growing_bytes import Wire

DIGITS = "0123456789"
HEX = DIGITS + "abcdef"
LOWER = DIGITS + "abcdefghijklmnopqrstuvwxyz"
ALNUM = LOWER + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

CREATED = 1_790_000_000
"""When every reply was made: the same bytes, today and next year."""


class Say(Struct, frozen=True, tag="say"):
    """Text."""

    text: str


class Think(Struct, frozen=True, tag="think"):
    """Thinking; `hidden` is what the provider does not show (redacted, encrypted)."""

    text: str = ""
    hidden: bool = False


class Call(Struct, frozen=True, tag="call"):
    """A tool call. `raw` is written in place of the arguments, for models that do not write JSON."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    raw: str | None = None


class Hosted(Struct, frozen=True, tag="hosted"):
    """A tool that the provider ran itself; protocols without such tools leave it out.

    `url` is the page that it found, and the result its title.
    """

    name: str = "web_search"
    arguments: dict[str, Any] = field(default_factory=dict)
    result: str = ""
    url: str = ""


Part: TypeAlias = Say | Think | Call | Hosted


class ReplyParts(Struct, frozen=True):
    """What a model says to one request; `odd` names the ways in which the server writes it oddly."""

    parts: tuple[Part, ...] = ()
    stop: Stop | None = None
    usage: Usage | None = None
    odd: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the reply says."""
        return "".join(part.text for part in self.parts if isinstance(part, Say))

    @property
    def thinking(self) -> str:
        """What the reply thinks."""
        return "".join(part.text for part in self.parts if isinstance(part, Think) and not part.hidden)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls in the reply."""
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def ends(self) -> Stop:
        """Why it ends."""
        return self.stop or ("tool_calls" if self.calls else "end")


class ReplyAuthor(Protocol):
    """Who answers: one model of one provider. It makes the ids, the signatures and the token counts."""

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def family(self) -> str:
        """Whose model it is, as far as its name tells."""

    @property
    def usage(self) -> bool:
        """Whether the request wants token counts in the stream."""

    @property
    def wants_encrypted(self) -> bool:
        """Whether the request wants its reasoning encrypted."""

    @property
    def signs_calls(self) -> bool:
        """Whether every step is signed and every call has an id, as with Gemini 3."""

    def draw(self, prefix: str, length: int, letters: str = ALNUM) -> str:
        """A fresh id: the prefix and that many letters."""

    def sign(self, style: str, content: str) -> str:
        """A signature on the content."""

    def call_id(self, name: str, place: int, given: str = "") -> str:
        """The id of a call, as this provider writes it."""

    def count_tokens(self, reply: ReplyParts) -> Usage:
        """The tokens of a reply."""


def _same_body(held: Wire) -> Wire:
    return held


class ReplyForms(Struct, frozen=True):
    """How one protocol writes a scripted reply: as the server holds it, then as one body or as events."""

    whole: Callable[[ReplyParts, ReplyAuthor, Wire | None], Wire]  # with the request that it answers
    stream: Callable[[Wire, ReplyAuthor, Collection[str]], Stream]  # with the odd ways of the server
    body: Callable[[Wire], Wire] = _same_body


ReplyEncoder = ReplyForms


def stop_word(stops: dict[Stop, str], reply: ReplyParts, protocol: str) -> str:
    """The protocol's word for why the reply ends."""
    if reply.ends not in stops:
        known = ", ".join(stops)
        raise UsageError(
            f"{protocol} has no word for a reply that ends with {reply.ends!r}; end it with one of: {known}"
        )
    return stops[reply.ends]
