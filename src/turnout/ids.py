"""Ids of tool calls: one canonical id in the history, and one id for each target.

The canonical id is a hash of who wrote the call and where (`call_id`). For a target, a format
gives candidates and the projection takes the first free one, so that collision handling is one
line for every provider. Candidates follow transcript order, so appending never changes an
earlier id.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from msgspec import Struct

PREFIX = "hist_tool_"
CANONICAL = re.compile(r"hist_tool_[A-Za-z0-9_-]{1,32}")
ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

IdFormat = Callable[[str, str, int], Iterable[str]]
"""(call id, tool name, position) -> candidates, best first."""


def call_id(provider: str, raw_id: str, name: str, turn_key: str, index: int) -> str:
    """The canonical id of a call. All five parts count: raw ids repeat across turns and may be empty."""
    digest = _digest(f"{provider}|{raw_id}|{name}|{turn_key}|{index}")
    return PREFIX + urlsafe_b64encode(digest[:18]).decode()  # 24 characters


def is_canonical(text: str) -> bool:
    return CANONICAL.fullmatch(text) is not None


def canonical_of(outward: str) -> str:
    """The canonical id that a target knows as `outward`; "" where it has not the form of one of ours."""
    for prefix in ("call_", "toolu_", "fc_", ""):
        if outward.startswith(prefix) and _SUFFIX.fullmatch(suffix := outward[len(prefix) :]):
            return PREFIX + suffix
    return outward if is_canonical(outward) else ""


_SUFFIX = re.compile(r"[A-Za-z0-9_-]{24}")


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def openai(call_id: str, name: str, position: int) -> Iterator[str]:
    """call_ and the canonical suffix: usually 29 characters, at most 40."""
    return _prefixed_candidates(PREFIXES[openai], call_id)


def anthropic(call_id: str, name: str, position: int) -> Iterator[str]:
    """toolu_ and the canonical suffix."""
    return _prefixed_candidates(PREFIXES[anthropic], call_id)


def bedrock(call_id: str, name: str, position: int) -> Iterator[str]:
    """tooluse_ and the canonical suffix."""
    return _prefixed_candidates(PREFIXES[bedrock], call_id)


def gemini(call_id: str, name: str, position: int) -> Iterator[str]:
    """The suffix alone; the projection prefers an id that the target gave."""
    return _prefixed_candidates(PREFIXES[gemini], call_id)


def kimi(call_id: str, name: str, position: int) -> Iterator[str]:
    """Kimi counts calls over the whole conversation: functions.read_file:3."""
    while True:
        yield f"functions.{name}:{position}"
        position += 1


def mistral(call_id: str, name: str, position: int) -> Iterator[str]:
    """Nine alphanumerics of a hash; cutting a longer id to nine characters would collide."""
    salt = 0
    while True:
        number = int.from_bytes(_digest(f"{call_id}#{salt}" if salt else call_id)[:16], "big")
        yield "".join(ALPHANUMERIC[(number // 62**place) % 62] for place in range(9))
        salt += 1


def _prefixed_candidates(prefix: str, call_id: str) -> Iterator[str]:
    if is_canonical(call_id):
        yield prefix + call_id.removeprefix(PREFIX)
    salt = 0
    while True:
        yield prefix + urlsafe_b64encode(_digest(f"{call_id}#{salt}"))[:24].decode()
        salt += 1


FORMATS: dict[str, IdFormat] = {
    "openai": openai,
    "anthropic": anthropic,
    "bedrock": bedrock,
    "gemini": gemini,
    "kimi": kimi,
    "mistral": mistral,
    "cohere": openai,
}

PREFIXES: dict[IdFormat, str] = {openai: "call_", anthropic: "toolu_", bedrock: "tooluse_", gemini: ""}
"""Formats whose first candidate is this prefix and the suffix of the canonical id."""

FORMAT_OF_PROVIDER = {
    "anthropic": "anthropic",
    "bedrock": "bedrock",
    "gemini": "gemini",
    "vertex": "gemini",
    "kimi": "kimi",
    "moonshot": "kimi",
    "mistral": "mistral",
}
"""All other providers use the format of OpenAI."""


def format_name(provider: str) -> str:
    return FORMAT_OF_PROVIDER.get(provider, "openai")


class NameFormat(Struct, frozen=True):
    """The names that a provider accepts for a tool."""

    pattern: str = "[a-zA-Z0-9_-]+"
    limit: int = 64
    lead: str = "_"  # the first character of a projected name that would not begin with a letter

    def accepts(self, name: str) -> bool:
        return len(name) <= self.limit and re.fullmatch(self.pattern, name) is not None

    def project(self, name: str) -> str:
        """The name where it is accepted, else a safe one that depends only on this name."""
        if self.accepts(name):
            return name
        tag = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        base = re.sub(r"[^a-zA-Z0-9_]", "_", name)[: self.limit - 10] or "tool"
        safe = f"{base}_{tag}"
        return safe if safe[0].isalpha() or safe[0] == self.lead else f"{self.lead}{safe}"


OPENAI_NAMES = NameFormat()
ANTHROPIC_NAMES = NameFormat(limit=128)
GEMINI_NAMES = NameFormat(pattern="[a-zA-Z_][a-zA-Z0-9_.:-]*")
# Moonshot answers "function name is invalid, must start with a letter" to 21st_magic; its documents
# let an underscore begin a name too.
KIMI_NAMES = NameFormat(pattern="[a-zA-Z_][a-zA-Z0-9_-]*", lead="t")

# Cohere's reference: "a-z, A-Z, 0-9, _ and must not begin with a digit".
COHERE_NAMES = NameFormat(pattern="[a-zA-Z_][a-zA-Z0-9_]*")

NAMES_OF_FORMAT = {
    "anthropic": ANTHROPIC_NAMES,
    "gemini": GEMINI_NAMES,
    "kimi": KIMI_NAMES,
    "cohere": COHERE_NAMES,
}


class IdProjection:
    """The ids of one target: unique, the same for call and result, stable as the transcript grows.

    Nearly all are a prefix and the canonical suffix. These are not stored but computed, which
    saves memory in a long conversation.
    """

    def __init__(self, format: IdFormat, names: NameFormat = OPENAI_NAMES) -> None:
        self.format = format
        self.names = names
        self._prefix = PREFIXES.get(format)
        self._given: dict[str, str | None] = {}  # None stands for the prefix and the suffix
        self._taken: dict[str, None] = {}  # all other ids; a dict is half the size of a set
        self._projected_names: dict[str, str] = {}

    def add(self, call_id: str, name: str, preferred: str = "") -> str:
        """The id of a call for the target, chosen on first use. `preferred`: the id that the target gave."""
        if call_id in self._given:
            return self[call_id]
        usual = self._usual_id(call_id)
        if usual and not preferred and usual not in self._taken:  # as nearly all are
            self._given[call_id] = None
            return usual
        candidates = iter(self.format(call_id, self.name(name), len(self._given)))
        chosen = preferred or next(candidates)
        while chosen in self._taken or self._is_usual_of_another(chosen, call_id):
            chosen = next(candidates)
        if chosen == usual:
            self._given[call_id] = None
        else:
            self._given[call_id] = chosen
            self._taken[chosen] = None
        return chosen

    def _usual_id(self, call_id: str) -> str:
        """The prefix and the suffix of a canonical id; "" where the format has no prefix."""
        if self._prefix is None or not is_canonical(call_id):
            return ""
        return self._prefix + call_id.removeprefix(PREFIX)

    def _is_usual_of_another(self, outward: str, call_id: str) -> bool:
        if self._prefix is None or not outward.startswith(self._prefix):
            return False
        other = PREFIX + outward.removeprefix(self._prefix)
        return other != call_id and self._given.get(other, "") is None

    def name(self, name: str) -> str:
        """The name of a tool for the target, computed on first use."""
        if (projected := self._projected_names.get(name)) is None:
            projected = self._projected_names[name] = self.names.project(name)
        return projected

    def tool_names(self, names: Iterable[str]) -> dict[str, str]:
        """The names for the target of tools that are declared together: no two are the same.

        A tool whose name is accepted keeps it. One whose projected name is taken gets another,
        which depends only on these names.
        """
        listed = list(names)
        taken = {name for name in listed if self.name(name) == name}
        projected = {}
        for name in listed:
            salt, chosen = 0, self.name(name)
            while chosen != name and chosen in taken:
                salt += 1
                chosen = self.names.project(f"{name}#{salt}")  # no provider accepts "#"
            taken.add(chosen)
            projected[name] = chosen
        return projected

    def __getitem__(self, call_id: str) -> str:
        given = self._given[call_id]
        return f"{self._prefix}{call_id.removeprefix(PREFIX)}" if given is None else given

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._given

    def as_dict(self) -> dict[str, str]:
        return {call_id: self[call_id] for call_id in self._given}
