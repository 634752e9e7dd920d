"""The key bindings of a conversation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from prompt_toolkit.key_binding import KeyBindings

from turnout.surfaces.terminal.approval_question import CHOICES
from turnout.surfaces.terminal.keys import bindings


def bound(**state: Any) -> KeyBindings:
    return bindings(SimpleNamespace(hears_choice=False, asked=None, picking=None, **state))  # type: ignore[arg-type]


def keys_of(found: KeyBindings, *, active: bool = False) -> set[str]:
    pressed = [each for each in found.bindings if not active or each.filter()]
    return {"+".join(getattr(key, "value", key) for key in each.keys) for each in pressed}


def test_every_answer_has_its_key_in_both_cases() -> None:
    """Caps lock must not change what a key does."""
    keys = keys_of(bound())
    assert all({choice.key, choice.key.upper()} <= keys for choice in CHOICES)


def test_letters_are_answers_only_while_a_question_takes_them() -> None:
    """Else they are typed into the input line."""
    letters = {choice.key for choice in CHOICES}
    assert not letters & keys_of(bound(), active=True)

    asked = bindings(SimpleNamespace(hears_choice=True, asked=None, picking=None))  # type: ignore[arg-type]

    assert letters <= keys_of(asked, active=True)


def test_there_is_always_a_key_to_stop_and_one_to_leave() -> None:
    """Esc, Ctrl+C and Ctrl+D are bound whatever is shown."""
    assert {"escape", "c-c", "c-d"} <= keys_of(bound(), active=True)
