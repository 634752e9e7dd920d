"""The key bindings of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, Filter, has_completions, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.search import stop_search

from .approval_question import CHOICES, AnswerChoice

if TYPE_CHECKING:
    from .terminal import Terminal


def bindings(terminal: Terminal) -> KeyBindings:
    """Our key bindings; prompt_toolkit adds the usual ones for editing."""
    keys = KeyBindings()
    choosing = Condition(lambda: terminal.hears_choice)
    _bind_typing(keys, terminal, ~is_searching)
    _bind_stopping(keys, terminal)
    _bind_switching(keys, terminal)
    _bind_choices(keys, terminal, choosing)
    _bind_rows(keys, terminal)
    return keys


def _bind_typing(keys: KeyBindings, terminal: Terminal, typing: Filter) -> None:
    """Enter sends the input; other keys insert a new line."""

    @keys.add("enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            terminal.press_enter()

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        terminal.paste_text(event.data)

    @keys.add("c-v", filter=typing)
    def _(event: KeyPressEvent) -> None:
        terminal.paste_image()

    @keys.add("c-g", filter=typing)
    def _(event: KeyPressEvent) -> None:
        terminal.open_editor()

    @keys.add("escape", "enter", filter=typing)
    @keys.add("c-j", filter=typing)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")


def _bind_stopping(keys: KeyBindings, terminal: Terminal) -> None:
    """Keys that stop something: a menu, a search, a reply, the program."""

    @keys.add("escape", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.complete_state is not None:
            event.current_buffer.cancel_completion()
        else:
            terminal.press_escape()

    @keys.add("c-c")
    @keys.add(Keys.SIGINT)
    def _(event: KeyPressEvent) -> None:
        if is_searching():
            stop_search()
        else:
            terminal.press_interrupt()

    @keys.add("c-d", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        if terminal.buffer.text and terminal.asked is None:
            terminal.buffer.delete()
        else:
            terminal.leave()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()


def _bind_switching(keys: KeyBindings, terminal: Terminal) -> None:
    """Keys that switch the approval mode and the display of thinking."""

    @keys.add("s-tab", filter=~has_completions)
    def _(event: KeyPressEvent) -> None:
        terminal.talk.next_mode()

    @keys.add("c-t")
    def _(event: KeyPressEvent) -> None:
        terminal.unfold()

    @keys.add("c-o")
    def _(event: KeyPressEvent) -> None:
        terminal.talk.open_folded()


def _bind_choices(keys: KeyBindings, terminal: Terminal, choosing: Filter) -> None:
    """Keys that answer a question."""
    for choice in CHOICES:

        @keys.add(choice.key, filter=choosing)
        @keys.add(choice.key.upper(), filter=choosing)
        def _(event: KeyPressEvent, choice: AnswerChoice = choice) -> None:
            terminal.press_choice(choice)

    @keys.add("tab", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        if terminal.asked is not None:
            terminal.asked.edit_pattern()


STEPS = {"up": -1, "down": 1, "c-p": -1, "c-n": 1, "pageup": -8, "pagedown": 8}


def _bind_rows(keys: KeyBindings, terminal: Terminal) -> None:
    """Keys that move in a list."""
    picking = Condition(lambda: terminal.picking is not None)
    for key, steps in STEPS.items():

        @keys.add(key, filter=picking)
        def _(event: KeyPressEvent, steps: int = steps) -> None:
            if terminal.picking is not None:
                terminal.picking.picker.move(steps)
