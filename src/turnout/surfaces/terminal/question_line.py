"""The approval question above the input line: when it takes a key, and what the key means.

A question can appear while the user types a word. So it ignores keys until `SILENCE` seconds have
passed without one, and every key until then goes into the input line. A letter is an answer only if
no other key follows within `ALONE` seconds, because "y" may be the start of "yesterday". A lasting
answer (`s`, `a`) also needs Enter. Letters that turn out to be typing go into the input line.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from prompt_toolkit.buffer import Buffer

from ...tools.policy.approval import ApprovalRequest, Decision
from .approval_question import (
    ALWAYS,
    EDIT,
    NO,
    PATTERN,
    SESSION,
    AnswerChoice,
    arguments_text,
    decision,
    pattern_of,
)
from .pieces import ApprovalQuestion

SILENCE = 1.0
"""Seconds without a key after which a question takes one."""
ALONE = 0.35
"""Seconds within which a second key shows that the first was typing, not an answer."""


class Silence:
    """Measures the time since the last key in a buffer."""

    def __init__(self, buffer: Buffer) -> None:
        self._typed_at = float("-inf")
        buffer.on_text_changed += self._note_key

    async def wait(self) -> None:
        """Return when no key was typed for `SILENCE` seconds, counted from now at the earliest."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while (left := max(begun, self._typed_at) + SILENCE - loop.time()) > 0:
            await asyncio.sleep(left)

    def _note_key(self, _: object) -> None:
        self._typed_at = asyncio.get_running_loop().time()


class QuestionLine:
    """One approval question, from the moment it appears to its answer."""

    def __init__(
        self,
        request: ApprovalRequest,
        question: ApprovalQuestion,
        buffer: Buffer,
        silence: Silence,
        refresh: Callable[[], None],
    ) -> None:
        self.request = request
        self.question = question
        self.answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self.words_for: AnswerChoice | None = None  # set while the words of an answer are typed
        self.picked: AnswerChoice | None = None  # a letter was typed, but it has no effect yet
        self._picked_at = 0  # where that letter would be in the input line
        self._typed = ""  # the input line before words were asked for
        self._hears = False
        self._buffer = buffer
        self._silence = silence
        self._refresh = refresh
        self._listening = asyncio.ensure_future(self._wait_for_silence())
        self._acting: asyncio.TimerHandle | None = None
        buffer.on_text_changed += self._note_typing

    def close(self) -> None:
        """Stop listening; the input line holds what the user was typing."""
        self._buffer.on_text_changed -= self._note_typing
        self._listening.cancel()
        self._stop_acting()
        if self.words_for is not None:
            self._restore_line()

    @property
    def hears(self) -> bool:
        """Whether a letter is an answer now."""
        return self._hears and self.words_for is None

    def pick(self, choice: AnswerChoice) -> None:
        """A letter that may be an answer was typed."""
        if self.picked is not None:  # two letters in a row are typing
            self._buffer.insert_text(choice.key)
            return
        self.picked, self._picked_at = choice, self._buffer.cursor_position
        if choice not in (SESSION, ALWAYS):
            self._acting = asyncio.get_running_loop().call_later(ALONE, self.confirm)
        self._refresh()

    def confirm(self) -> None:
        """Apply the picked answer: Enter was typed, or no other key came after the letter."""
        choice, self.picked = self.picked, None
        self._stop_acting()
        if choice in (NO, EDIT):
            self._ask_words(choice, arguments_text(self.request.arguments) if choice is EDIT else "")
        elif choice is not None:
            self.decide(decision(self.request, choice))

    def edit_pattern(self) -> None:
        """Ask for the pattern of commands that a lasting yes covers; this command is the first text."""
        if self.picked in (SESSION, ALWAYS) and (exact := pattern_of(self.request)) is not None:
            lasts, self.picked = self.picked, None
            self._ask_words(PATTERN[lasts], exact)

    def take_words(self, text: str) -> None:
        """Answer with the words that were typed; ValueError says why they do not fit."""
        assert self.words_for is not None
        self.decide(decision(self.request, self.words_for, text.strip()))

    def decide(self, decided: Decision) -> None:
        if not self.answer.done():
            self.answer.set_result(decided)

    def step_back(self) -> bool:
        """Esc: back to the choices; False if nothing was picked."""
        begun = self.picked is not None or self.words_for is not None
        if self.words_for is not None:
            self._restore_line()
        self.picked = None
        self._stop_acting()
        self._refresh()
        return begun

    async def _wait_for_silence(self) -> None:
        await self._silence.wait()
        self._hears = True
        self._refresh()

    def _note_typing(self, _: object) -> None:
        """The input line changed: the user is typing, so keys are typing until the next silence."""
        if self.words_for is not None:
            return
        self._stop_acting()
        if (choice := self.picked) is not None:
            self.picked = None
            self._put_letter(choice.key)
        if self._hears:
            self._hears = False
            self._listening = asyncio.ensure_future(self._wait_for_silence())
        self._refresh()

    def _put_letter(self, letter: str) -> None:
        """Put a letter that was not an answer where it would have been typed."""
        text, cursor = self._buffer.text, self._buffer.cursor_position
        at = min(self._picked_at, len(text))
        self._buffer.text = text[:at] + letter + text[at:]
        self._buffer.cursor_position = cursor + 1 if cursor >= at else cursor

    def _ask_words(self, choice: AnswerChoice, first: str) -> None:
        self._typed = self._buffer.text
        self.words_for = choice
        self._fill_line(first)
        self._refresh()

    def _restore_line(self) -> None:
        self._fill_line(self._typed)
        self.words_for = None

    def _fill_line(self, text: str) -> None:
        self._buffer.reset()
        self._buffer.insert_text(text)

    def _stop_acting(self) -> None:
        if self._acting is not None:
            self._acting.cancel()
            self._acting = None
