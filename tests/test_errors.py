"""The exceptions of turnout: one root, and what each carries."""

from __future__ import annotations

import inspect

from turnout import errors
from turnout.errors import CorruptHistory, HookError, ProviderError, SessionHeld, StoreError, TurnoutError


def test_every_exception_has_one_root() -> None:
    """`except TurnoutError` catches everything that turnout raises on purpose."""
    found = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, Exception)]
    assert len(found) > 5 and all(issubclass(each, TurnoutError) for each in found)


def test_a_usage_error_is_a_value_error() -> None:
    """Callers that know only Python's exceptions can catch it."""
    assert issubclass(errors.UsageError, ValueError)


def test_a_provider_error_says_what_happened() -> None:
    """Kind, status and when to retry are fields, not text."""
    error = ProviderError("busy", kind="overloaded", status=529, retry_after=3.0)
    assert (str(error), error.kind, error.status, error.retry_after) == ("busy", "overloaded", 529, 3.0)


def test_a_hook_that_fails_is_named() -> None:
    """A refusal is the text of the hook; a failure names the hook and keeps its cause."""
    cause = RuntimeError("no")
    failed = errors.callback_error("approver", cause)
    assert str(failed) == "approver: RuntimeError: no" and failed.__cause__ is cause
    assert str(HookError("not today", hook="before_tool", refused=True)) == "not today"


def test_errors_carry_what_they_are_about() -> None:
    """The entry that cannot be read, the process that holds a session."""
    assert CorruptHistory("damaged", b"x").entry == b"x"
    held = SessionHeld("open elsewhere", 7)
    assert held.holder == 7 and isinstance(held, StoreError)
