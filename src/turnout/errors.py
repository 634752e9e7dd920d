"""Every exception that turnout raises, and what caused it.

    TurnoutError
      UsageError          the calling code broke a rule of this library
      ProviderError       the provider refused or failed: status, kind, retry_after
      StreamError         the stream broke off or could not be read: carries the turn so far
      CorruptHistory      a stored log cannot be read: carries the entry
      StoreError          the store cannot write: nothing was acknowledged
        SessionHeld       another process has the session: `holder` says which
      LimitReached        a limit that the user set on tokens, cost or rounds
      HookError           a hook refused, or a hook or another function of yours failed

Tool failures, bad arguments, repairs and cancellations are values (`Outcome`,
`Diagnostic`), never exceptions: the conversation continues with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .model import ModelTurn

FailureKind = Literal[
    "auth",
    "rate_limit",
    "quota",
    "overloaded",
    "context_too_long",
    "invalid_request",
    "content_filter",
    "not_found",
    "server",
    "network",
    "timeout",
    "truncated",
    "malformed",
    "too_large",
]


class TurnoutError(Exception):
    """The root: catch this to catch everything turnout raises on purpose."""


class UsageError(TurnoutError, ValueError):
    """The calling code broke a rule of this library; the message says which, and what to do."""


class ProviderError(TurnoutError):
    """The provider refused the request or failed while answering it."""

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind = "server",
        status: int | None = None,
        retry_after: float | None = None,
        code: str = "",
        rule: str = "",
        body: str = "",
        turn: ModelTurn | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.code = code
        self.rule = rule  # the rule of tool calls that was broken, where it is known
        self.body = body  # an excerpt of what the provider sent, without secrets
        self.turn = turn  # what had arrived before it failed
        self.report: Any = None  # set by the session: what diagnose() found


class StreamError(TurnoutError):
    """The stream broke off or could not be read; `turn` holds what had arrived."""

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind = "malformed",
        body: str = "",
        turn: ModelTurn | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.body = body
        self.turn = turn


class CorruptHistory(TurnoutError):
    """A stored log cannot be read; `entry` is the part that is damaged."""

    def __init__(self, message: str, entry: Any = None) -> None:
        super().__init__(message)
        self.entry = entry


class LimitReached(TurnoutError):
    """A limit that the user set was reached; the history is valid and the session can continue."""


class HookError(TurnoutError):
    """A hook refused, or a function that you gave (hook, approver, asker, save_rule) failed.

    What the function raised is the `__cause__`. The history is valid and the session can continue.
    """

    def __init__(self, message: str, *, hook: str, refused: bool = False) -> None:
        super().__init__(message if refused else f"{hook}: {message}")
        self.why = message
        self.hook = hook  # which of the four hooks, or the name of the other function
        self.refused = refused  # True: it refused; False: it failed


def callback_error(name: str, error: BaseException) -> HookError:
    """The error for an exception that a function of the user raised."""
    raised = HookError(f"{type(error).__name__}: {error}", hook=name)
    raised.__cause__ = error
    return raised


class StoreError(TurnoutError):
    """The store failed; nothing of this write was acknowledged."""


class SessionHeld(StoreError):
    """Another process has this session open, or took it over; `holder` says which, where it is known."""

    def __init__(self, message: str, holder: Any = None) -> None:
        super().__init__(message)
        self.holder = holder
