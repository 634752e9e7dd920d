"""What is said about one request: its record, and one line for the log."""

from __future__ import annotations

import re
import time
from typing import Any

from msgspec import Struct, field, structs

from ...model import Usage

AGENT = re.compile(r"[A-Za-z0-9_.-]+(/[0-9A-Za-z_.-]+)?")
UNPRINTABLE = re.compile(r"[^\x21-\x7e]+")


class RequestRecord(Struct):
    """One request. `tokens` are all that were used; `cached` is the share of the input from a cache."""

    id: str
    time: float
    client: str = ""  # the name of its key
    agent: str = ""  # the program, as it names itself
    protocol: str = ""
    conversation: str = ""
    asked: str = ""
    target: str = ""
    status: int = 0
    stream: bool = False
    repairs: int = 0
    repaired: list[str] = field(default_factory=list)  # in the history
    dropped: list[str] = field(default_factory=list)  # fields and tools that the target did not get
    steps: list[str] = field(default_factory=list)  # retries, other targets, recovery
    tokens: int = 0
    input: int | None = None
    output: int | None = None
    cached: float | None = None
    cost: float | None = None
    first_byte: float | None = None
    seconds: float = 0.0
    stop: str = ""
    error: str = ""
    reused: bool = False  # only what was new in the request had to be read

    def add_usage(self, usage: Usage | None, cost: float | None, cached_apart: bool) -> None:
        if usage is None:
            return
        self.input, self.output, self.cost = usage.input, usage.output, cost
        given = usage.input or 0
        if cached_apart:  # Anthropic's count leaves out what came from the cache
            given += (usage.cached_input or 0) + (usage.cache_write or 0)
        self.tokens = given + (usage.output or 0)
        self.cached = round((usage.cached_input or 0) / given, 4) if given else None

    def as_dict(self) -> dict[str, Any]:
        return structs.asdict(self)


def log_line(record: RequestRecord) -> str:
    """One line: when, who, asked, answered, status, repairs, tokens, cached share, cost, times."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.time))
    fields = {
        "client": f"{record.client}/{record.agent}",
        "asked": record.asked or "-",
        "answered": record.target or "-",
        "status": record.status,
        "repairs": record.repairs,
        "tokens": f"{_count_text(record.input)}+{_count_text(record.output)}",
        "cached": "-" if record.cached is None else f"{record.cached:.0%}",
        "cost": "-" if record.cost is None else f"{record.cost:.6f}",
        "first": "-" if record.first_byte is None else f"{record.first_byte:.3f}s",
        "total": f"{record.seconds:.3f}s",
        "id": record.id,
    }
    words = [f"{name}={UNPRINTABLE.sub('_', str(value))[:120]}" for name, value in fields.items()]
    return " ".join([when, *words])


def agent_of(user_agent: str) -> str:
    """The program in a user-agent header, short and safe to print."""
    found = AGENT.match(user_agent)
    return found[0][:60] if found else "-"


def _count_text(count: int | None) -> str:
    return "-" if count is None else str(count)
