"""Templates, their filters, and the one style sheet of pages and exports."""

from __future__ import annotations

import time
from functools import lru_cache
from importlib.resources import files
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from ..clean_text import one_line, printable


def make_environment(*packages: str) -> Environment:
    """The templates of these packages, and those of a conversation."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, __package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "when": time_text,
        "iso": iso_text,
        "dollars": dollars,
        "seconds": seconds_text,
        "count": count_text,
        "counted": counted_text,
        "share": share_text,
        "line": one_line,
        "printable": printable,
        "path": lambda text: quote(text, safe=""),
        "bytes": size_text,
    }
    return made


@lru_cache(1)
def style_sheet() -> str:
    return files(__package__).joinpath("style.css").read_text()


# Filters


def time_text(stamp: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(stamp)) if stamp else ""


def iso_text(stamp: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp)) if stamp else ""


def dollars(cost: float | None) -> str:
    return "" if cost is None else f"${cost:,.4f}"


def seconds_text(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def count_text(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def counted_text(number: float, noun: str) -> str:
    """The number with its noun: 1 turn, 2 turns."""
    return f"{number:,.0f} {noun}{'' if number == 1 else 's'}"


def share_text(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def size_text(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
