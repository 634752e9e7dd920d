"""What a request asks for, in neutral words; each protocol maps them to its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from ..errors import UsageError
from ..model import Residue
from ..parameters import NamedFields, check_names

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
CHOICES = ("auto", "none", "required")
CACHE_PLACES = ("system", "tools", "messages")


class Options(Struct, frozen=True, kw_only=True, metaclass=NamedFields):
    """What a request asks for, in neutral words; each protocol maps them to its own."""

    max_tokens: int | None = None
    thinking: bool | None = None
    effort: str | None = None
    budget: int | None = None  # tokens to think with, for APIs that count them
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    logprobs: int | None = None  # log probabilities of the answer, with that many alternatives
    tool_choice: str | None = None  # "auto", "none", "required", or a tool's name
    parallel: bool | None = None
    stream: bool | None = None  # None: a session streams, one rendered request does not
    strict: bool = False
    schema: dict[str, Any] | None = None  # what the answer must look like
    schema_name: str | None = None
    schema_description: str | None = None
    schema_strict: bool | None = None  # for the answer alone; None: as `strict` says
    json: bool = False  # the answer is a JSON object of any shape
    verbosity: str | None = None
    user: str | None = None  # the end user that the request is for
    metadata: dict[str, str] | None = None
    service_tier: str | None = None
    cache: bool = True
    cache_ttl: str | None = None  # how long a prompt stays cached: "5m", "1h", "24h"
    cache_places: tuple[str, ...] | None = None  # where cache markers stand: of CACHE_PLACES; None: all
    cache_key: str | None = None
    chain: bool = False
    foreign_thinking: str = "omit"  # of other models: "omit", or "as_text"
    private: Residue | None = None  # the fields that only one API has, for that API: see read_request
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, Any], where: str = "Options()") -> Options:
        """The options of a request, checked. A name that is not known is a `TypeError`."""
        check_names(where, "option", options, cls.__struct_fields__)
        try:
            read = msgspec.convert(_with_listed_stops(options), cls)
        except msgspec.ValidationError as error:
            raise UsageError(f"an option has a wrong value: {error}; change it or leave it out") from None
        if read.effort is not None and read.effort not in EFFORTS:
            raise UsageError(f"effort {read.effort!r} is not one of {', '.join(EFFORTS)}")
        if read.max_tokens is not None and read.max_tokens < 1:
            raise UsageError(f"max_tokens {read.max_tokens} leaves no room for an answer; give 1 or more")
        if read.temperature is not None and not read.temperature >= 0:
            raise UsageError(f"temperature {read.temperature} is below 0; give 0 or more")
        if read.top_p is not None and not 0 <= read.top_p <= 1:
            raise UsageError(f"top_p {read.top_p} is not between 0 and 1; give 0 to 1")
        if read.logprobs is not None and read.logprobs < 0:
            raise UsageError(f"logprobs {read.logprobs} is a count of alternatives; give 0 or more")
        for place in read.cache_places or ():
            if place not in CACHE_PLACES:
                raise UsageError(f"cache_places {place!r} is not one of {', '.join(CACHE_PLACES)}")
        if read.schema is not None and read.json:
            raise UsageError("schema and json both say what the answer looks like; give one of them")
        if read.thinking and read.effort == "none":
            raise UsageError("thinking=True and effort='none' contradict each other; give one of them")
        if read.thinking is None and read.effort is not None:
            return msgspec.structs.replace(read, thinking=read.effort != "none")
        return read

    def caches(self, place: str) -> bool:
        """Whether a cache marker may stand there."""
        return self.cache and (self.cache_places is None or place in self.cache_places)

    # With these, `**options` passes on only the options that were set.

    def keys(self) -> list[str]:
        """The names of the options that were given."""
        return [name for name, usual in _DEFAULTS.items() if getattr(self, name) != usual]

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


_DEFAULTS = {name: getattr(Options(), name) for name in Options.__struct_fields__}


def _with_listed_stops(options: Mapping[str, Any]) -> dict[str, Any]:
    """One stop word may be given by itself."""
    stop = options.get("stop", ())
    return {**options, "stop": (stop,)} if isinstance(stop, str) else dict(options)
