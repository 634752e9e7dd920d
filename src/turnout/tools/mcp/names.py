"""What a model calls a server's tool: `mcp__server__tool`, in letters that every provider takes.

Two different tools never share a name: whatever had to be changed in a name, or would read
like another, gets a mark made from the whole of it. The prefix keeps built-in tools out of reach.
"""

from __future__ import annotations

import re
from hashlib import sha256

PREFIX = "mcp__"
LONGEST = 64
_MARK = 8
_ODD = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str) -> str:
    """The name of a server's tool, the same in every session."""
    whole = f"{PREFIX}{server}__{tool}"
    written = _ODD.sub("_", whole)
    # With a server that holds or ends in the separator, `a__b` + `c` would read as `a` + `b__c`.
    ambiguous = "__" in server or server.endswith("_")
    if written == whole and not ambiguous and tool and len(whole) <= LONGEST:
        return whole
    mark = sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:_MARK]
    return f"{written[: LONGEST - _MARK - 1]}_{mark}"
