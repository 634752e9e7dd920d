"""Redact keys and tokens in a text that a server sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_SECRETS = r"""
    (?P<before>
        \b(?:bearer|basic)\s+(?=[^\s"']{12})
      | key\ provided:\s*
      | [?&](?:key|api_key|token|sig|signature)=
      | \b(?:api[-_]?key|authorization|(?:access|refresh|id)[-_]token|(?:client[-_])?secret|password)\b
        ["']?\s*[:=]\s*["']?(?:(?:bearer|basic)\s+)?
    )
    (?:\[redacted\]|[^\s"'&,;}\]])+
    | \b(?:sk|pk|rk|xai|gsk|csk|nvapi|tvly|hf|pplx)[-_][A-Za-z0-9_-]{12,}
    | \bAIza[0-9A-Za-z_-]{20,}
    | \bya29\.[0-9A-Za-z_.-]{10,}
    | \bgh[opusr]_[A-Za-z0-9]{16,} | \bgithub_pat_[A-Za-z0-9_]{16,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{12,}
    | (?<=://)[^/\s:@"']*:[^/\s@"']+(?=@)
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
    """


def redact_keys(text: str) -> str:
    """The text with everything that looks like a key or token redacted."""
    return _secrets().sub(lambda found: (found["before"] or "") + "[redacted]", text)


def key_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where a text has something that looks like a key or token."""
    for found in _secrets().finditer(text):
        yield found.start() + len(found["before"] or ""), found.end()


@cache
def _secrets() -> re.Pattern[str]:
    """Compiled when the first text is redacted: it takes 2 ms, which not every start need pay."""
    return re.compile(_SECRETS, re.IGNORECASE | re.VERBOSE)
