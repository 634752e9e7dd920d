"""A failure as the caller's own API would send it: status, headers and body."""

from __future__ import annotations

from msgspec import Struct

from ..errors import ProviderError, StreamError, UsageError
from ..model import Origin
from ..providers import find_provider
from ..wire.failure.error_words import Failure, caller_status, error_envelope
from ..wire.reply_encoder import WRITERS
from ..wire.shared.framing import encode
from .target import Target


class ErrorBody(Struct, frozen=True):
    """A failure as it is sent to a caller."""

    status: int
    headers: dict[str, str]
    body: bytes


def error_body(protocol: str, error: Exception, target: str | Origin | Target = "") -> ErrorBody:
    """A failure in the form of `protocol`, so that the caller's SDK raises its own error for it.

    `retry-after` is passed on. A key that the upstream refused is a 502 and never a 401: it must not look
    like the caller's own token. The text then names the provider of `target` and the variable of its key.
    A `UsageError` is the caller's mistake (400). The text of any other exception is not shown (500).
    """
    if protocol not in WRITERS:
        known = ", ".join(WRITERS)
        raise UsageError(f"no client speaks {protocol!r}; an error body is written as one of: {known}")
    failure = _failure_of(error, _origin_of(target, error))
    headers = {"content-type": "application/json"}
    if (wait := getattr(failure, "retry_after", None)) is not None:
        headers["retry-after"] = f"{max(wait, 0):g}"
    return ErrorBody(caller_status(protocol, failure), headers, encode(error_envelope(protocol, failure)))


def _failure_of(error: Exception, origin: Origin) -> Failure:
    if isinstance(error, ProviderError | StreamError):
        if error.kind != "auth":
            return error
        return ProviderError(_key_words(error.message, origin), kind="auth")
    if isinstance(error, UsageError):
        return ProviderError(str(error), kind="invalid_request", status=400)
    return ProviderError("internal error; the log of the gateway has the details", kind="server", status=500)


def _origin_of(target: str | Origin | Target, error: Exception) -> Origin:
    if isinstance(target, Target):
        return target.origin
    if target:
        return Origin.parse(target)
    turn = getattr(error, "turn", None)
    return turn.origin if turn is not None else Origin("")


def _key_words(message: str, origin: Origin) -> str:
    """The provider's words, whose key it was, and where to put a better one."""
    if not origin.provider:
        return f"the provider refused the key of the gateway, not yours: {message}"
    try:
        variables = find_provider(origin.provider).key_variables
    except UsageError:  # a provider that is not in the table
        variables = ()
    remedy = f"; set {' or '.join(variables)} where the gateway runs" if variables else ""
    return f"{origin.provider} refused the key of the gateway, not yours{remedy}: {message}"
