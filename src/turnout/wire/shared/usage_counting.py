"""The same tokens under the counting rules of another API.

Anthropic counts cached tokens apart from the input; the others count them among it. Gemini counts thoughts
apart from the output; the others count them among it. A client that adds up its own kind of counts must not
count a token twice, or miss it.
"""

from __future__ import annotations

from msgspec.structs import replace

from ...model import Usage

CACHED_APART = frozenset({"anthropic", "converse"})
THOUGHTS_APART = frozenset({"gemini"})


def counted_for(usage: Usage, reader: str, counter: str) -> Usage:
    """The counts of an API (`counter`) as another one (`reader`) counts. "" is an API that is not known."""
    if not counter or counter == reader:
        return usage
    changes = {}
    if (counter in CACHED_APART) != (reader in CACHED_APART) and usage.input is not None:
        apart = (usage.cached_input or 0) + (usage.cache_write or 0)
        changes["input"] = usage.input + apart if counter in CACHED_APART else max(usage.input - apart, 0)
    if (counter in THOUGHTS_APART) != (reader in THOUGHTS_APART) and usage.output is not None:
        thoughts = usage.reasoning or 0
        among = usage.output + thoughts if counter in THOUGHTS_APART else usage.output - thoughts
        changes["output"] = max(among, 0)
    return replace(usage, **changes) if changes else usage
