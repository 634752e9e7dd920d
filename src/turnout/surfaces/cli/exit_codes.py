"""The exit codes of every command, and which error means which."""

from __future__ import annotations

from ...errors import LimitReached, ProviderError, StoreError, TurnoutError, UsageError

OK = 0
PROVIDER = 1
USAGE = 2
CONFIGURATION = 3
LIMIT = 4
REFUSED = 5
INTERRUPTED = 130


def code_of(error: TurnoutError) -> int:
    """The exit code for an error that ended a command."""
    from ...world.config import Misconfigured

    if isinstance(error, LimitReached):
        return LIMIT
    if isinstance(error, ProviderError):
        return {"auth": CONFIGURATION, "content_filter": REFUSED}.get(error.kind, PROVIDER)
    if isinstance(error, Misconfigured | StoreError):
        return CONFIGURATION
    return USAGE if isinstance(error, UsageError) else PROVIDER
