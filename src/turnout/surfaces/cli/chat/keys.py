"""Keys, and what each does in a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, has_completions, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.search import stop_search

from .asking import CHOICES

if TYPE_CHECKING:
    from .terminal import Terminal


def bindings(terminal: Terminal) -> KeyBindings:
    """Every key that is ours; the rest is the usual editing."""
    keys = KeyBindings()
    choosing = Condition(lambda: terminal.choosing)
    typing = ~choosing & ~is_searching

    @keys.add("enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            terminal.entered()

    @keys.add("escape", "enter", filter=typing)
    @keys.add("c-j", filter=typing)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("escape", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.complete_state is not None:
            event.current_buffer.cancel_completion()
        else:
            terminal.escaped()

    @keys.add("c-c")
    @keys.add(Keys.SIGINT)
    def _(event: KeyPressEvent) -> None:
        if is_searching():
            stop_search()
        else:
            terminal.interrupted()

    @keys.add("c-d", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        if terminal.buffer.text and not terminal.choosing:
            terminal.buffer.delete()
        else:
            terminal.leave()

    @keys.add("s-tab", filter=~has_completions)
    def _(event: KeyPressEvent) -> None:
        terminal.talk.next_mode()

    @keys.add("c-t")
    def _(event: KeyPressEvent) -> None:
        terminal.unfold()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    for choice in CHOICES:

        @keys.add(choice.key, filter=choosing)
        @keys.add(choice.key.upper(), filter=choosing)
        def _(event: KeyPressEvent, choice: object = choice) -> None:
            terminal.chose(choice)  # type: ignore[arg-type]

    return keys
