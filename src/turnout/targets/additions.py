"""What a target adds to every request: headers, a query, fields of the body, options. Never a key.

A key in a header would be in configuration files, in logs and in `request.headers`. So whatever looks
like a credential is refused, with the place where keys belong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from ..wire.shared.redaction import redact_keys

_CREDENTIAL_NAME = re.compile(
    r"authorization|(?:^|[-_])auth(?:$|[-_])|api[-_]?key|(?:^|[-_])key$|token(?!s|iz)|secret|passw|credential|cookie|"
    r"^sig(?:nature)?$|subscription-key",
    re.IGNORECASE,
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OURS = ("content-type", "content-length", "host", "transfer-encoding", "connection")
"""Headers that belong to the request itself."""


def checked_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Headers to add, in lower case; what cannot be one, or looks like a credential, is refused."""
    made: dict[str, str] = {}
    for name, value in (headers or {}).items():
        lower = name.lower()
        if not _HEADER_NAME.fullmatch(name) or not isinstance(value, str):
            raise UsageError(f"{name!r} cannot be a header of text; use letters, digits and '-' in its name")
        if lower in OURS:
            raise UsageError(f"the header {lower} is set by the request itself; remove it")
        _check_no_credential("header", name, value)
        made[lower] = value
    return made


def checked_query(query: Mapping[str, str] | None) -> dict[str, str]:
    """Parameters to add to the address, as text."""
    made = {name: str(value) for name, value in (query or {}).items()}
    for name, value in made.items():
        _check_no_credential("query parameter", name, value)
    return made


def checked_extra(extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """Fields to add to the body."""
    for name, value in (extra or {}).items():
        if isinstance(value, str):
            _check_no_credential("field", name, value)
    return dict(extra or {})


def _check_no_credential(what: str, name: str, value: str) -> None:
    if _CREDENTIAL_NAME.search(name) or redact_keys(value) != value:
        raise UsageError(
            f"the {what} {name} looks like a credential, and it would be in logs; give keys with api_key=, "
            "in a variable, or with `turnout login`"
        )
