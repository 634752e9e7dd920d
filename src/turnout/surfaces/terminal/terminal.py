"""The terminal: an input line that is always there, the live view above it, and the scrollback.

Finished pieces are printed above and belong to the terminal from then on, so that scrolling,
selecting and resizing are left to it. Below them prompt_toolkit redraws a few lines, at most
`FRAMES` times a second, however fast events come.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.layout import Layout
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from ...model import UserTurn
from ...tools.policy.approval import ApprovalRequest, Decision
from ..shared.clean_text import printable
from ..shared.mentions import quoted_path
from ..shared.signals import handling_signals
from .approval_question import AnswerChoice, answer_line
from .bottom import STYLE, Bottom
from .clipboard import image_in_clipboard, terminal_sequence
from .completer import ChatCompleter
from .drawing import Drawing
from .inquiry import Inquiry, PickInquiry
from .keys import bindings
from .pasted import LARGEST_IMAGE, dropped_path, image_type
from .picker import Picker, PickRow
from .pieces import ApprovalQuestion, FoldedThought, Notice, Piece
from .question_line import QuestionLine, Silence
from .talk import Talk
from .theme import Theme, theme

FRAMES = 10
TICK = 0.2
"""Seconds between two turns of the spinner."""
JOBS_TICK = 1.0
"""Seconds between two frames while only commands in the background run."""
TWICE = 2.0
"""Seconds in which a second Ctrl+C quits."""


class Terminal:
    """Shows a conversation in a terminal, and takes the user's keys."""

    def __init__(
        self, talk: Talk, look: Theme, history: History, stdout: TextIO, stdin: Input | None = None
    ) -> None:
        self.talk = talk
        talk.edge = self
        self.drawing = Drawing(look)
        self.asked: QuestionLine | None = None
        self.inquiry: Inquiry | None = None
        self.picking: PickInquiry | None = None
        self._waiting: list[str] = []  # drawn, not printed yet
        self.live = ""  # the live view, drawn
        self._due: asyncio.TimerHandle | None = None
        self._shown_at = 0.0
        self._had_jobs = False  # in the last frame
        self._clearing_since = -TWICE
        self._escaped_at = -TWICE
        self._stdout = stdout
        self.buffer = Buffer(
            completer=ThreadedCompleter(ChatCompleter(talk)),
            complete_while_typing=Condition(lambda: self.completes),
            history=history,
            multiline=True,
        )
        self.buffer.on_text_changed += self._narrow_rows
        self._silence = Silence(self.buffer)
        self.bottom = Bottom(self)
        self.app: Application[None] = self._application(stdin)

    async def converse(self, first: str = "") -> None:
        """Run until the user leaves. The session is closed in any case."""
        with handling_signals(self.leave, "SIGTERM", "SIGHUP"):
            try:
                await self.app.run_async(
                    pre_run=lambda: self._start_with(first), set_exception_handler=False, handle_sigint=True
                )
            except EOFError:  # the terminal is gone
                pass
            finally:
                await self.talk.leave()
                self._print_rest()

    def _start_with(self, first: str) -> None:
        asyncio.get_running_loop().call_soon(self._draw_frame)
        if first:
            asyncio.get_running_loop().call_soon(self.talk.take_line, first)

    # The port `Edge`

    has_keys = True

    @property
    def width(self) -> int:
        return self.app.output.get_size().columns

    def show(self, *pieces: Piece) -> None:
        self.drawing.set_width(self.width)
        self._waiting += [self.drawing.piece(piece) for piece in pieces]
        self.refresh()

    def refresh(self) -> None:
        """Draw soon: at once after a pause, else when the next frame is due."""
        if self._due is None and self.app.is_running:
            loop = asyncio.get_running_loop()
            self._due = loop.call_at(max(loop.time(), self._shown_at + 1 / FRAMES), self._draw_frame)

    async def ask(self, request: ApprovalRequest, question: ApprovalQuestion) -> Decision:
        self.asked = QuestionLine(request, question, self.buffer, self._silence, self.refresh)
        self.refresh()
        try:
            decided = await self.asked.answer
        finally:
            self.asked.close()
            self.asked = None
            self.refresh()
        self.show(Notice(f"  {printable(answer_line(decided, question))}"))
        return decided

    async def inquire(self, label: str, *, secret: bool = False) -> str | None:
        await self._silence.wait()  # the rest of a sentence must not become the answer
        self.inquiry = Inquiry(label, asyncio.get_running_loop().create_future(), secret)
        typed = self.buffer.text
        self.buffer.reset()
        self.refresh()
        try:
            return await self.inquiry.answer
        finally:
            self.inquiry = None
            self._fill_line(typed)

    async def pick(self, title: str, rows: Sequence[PickRow], at: int = 0) -> int | None:
        typed = self.buffer.text
        self.buffer.reset()
        self.picking = PickInquiry(Picker(title, rows, at), asyncio.get_running_loop().create_future())
        self.refresh()
        try:
            return await self.picking.answer
        finally:
            self.picking = None
            self._fill_line(typed)
            self.refresh()

    def copy_text(self, text: str) -> bool:
        if sequence := terminal_sequence(text, os.environ):
            self.app.output.write_raw(sequence)
            self.app.output.flush()
        return bool(sequence)

    def put_back(self, text: str) -> None:
        self._fill_line(text if not self.buffer.text else f"{text}\n{self.buffer.text}")

    def set_theme(self, name: str) -> None:
        encoding = getattr(self._stdout, "encoding", None)
        self.drawing.set_theme(theme(name, os.environ, tty=True, encoding=encoding))
        self.refresh()

    def leave(self) -> None:
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    # Keys of the user

    @property
    def hears_choice(self) -> bool:
        """Whether a letter is an answer to a question now."""
        return self.asked is not None and self.asked.hears

    @property
    def completes(self) -> bool:
        """Whether the input can be completed: a command, or a file after an @."""
        text = self.buffer.document.text_before_cursor
        named = text.startswith("/") or "@" in text.rpartition(" ")[2]
        return named and self.asked is None and self.inquiry is None and self.picking is None

    def press_enter(self) -> None:
        """Enter: send the line, or confirm or complete an answer."""
        text, asked = self.buffer.text, self.asked
        if asked is not None and asked.words_for is not None:
            self._take_words(asked, text)
            return
        if asked is not None and asked.picked is not None:
            asked.confirm()
            return
        if self.picking is not None:
            self.picking.give(self.picking.picker.chosen_row)
            return
        if self.inquiry is not None:
            self._give_answer(text.strip() or None)
            return
        if text.strip():
            self.buffer.history.append_string(self.talk.pasted.whole_text(text))
        self.buffer.reset()
        self.talk.take_line(text)

    def press_choice(self, choice: AnswerChoice) -> None:
        if self.asked is not None:
            self.asked.pick(choice)

    def press_escape(self) -> None:
        """Esc: back to the question, or stop what is running; twice: clear the line, or go back."""
        if self.asked is not None and self.asked.step_back():
            return
        if self.picking is not None:
            self.picking.give(None)
        elif self.inquiry is not None:
            self._give_answer(None)
        elif not self.talk.interrupt():
            self._escape_again()

    def _escape_again(self) -> None:
        now = asyncio.get_running_loop().time()
        is_second, self._escaped_at = now - self._escaped_at < TWICE, now
        if not is_second:
            return
        self._escaped_at = -TWICE
        if self.buffer.text:
            self.buffer.reset()
        elif any(isinstance(turn, UserTurn) for turn in self.talk.session.history.turns):
            self.talk.take_line("/rewind")

    def paste_text(self, text: str) -> None:
        """Bracketed paste: a dropped image or file, a long text as a sign, or the text itself."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if self.asked is not None or self.inquiry is not None or self.picking is not None:
            self.buffer.insert_text(text)
        elif not text:  # some terminals send an empty paste when the clipboard holds an image
            self.paste_image()
        elif (path := dropped_path(text)) is not None:
            self.buffer.insert_text(self._sign_of_file(path) or text)
        else:
            self.buffer.insert_text(self.talk.pasted.sign_for_text(text))

    def paste_image(self) -> None:
        """Ctrl+V: the image in the clipboard, where a program can read it."""

        async def read_clipboard() -> None:
            data = await asyncio.to_thread(image_in_clipboard)
            if sign := self.talk.pasted.sign_for_image(data, "from the clipboard"):
                self.buffer.insert_text(sign)
            else:
                self.show(Notice("The clipboard holds no image that can be read here."))

        self.talk.do_aside(read_clipboard())

    def _sign_of_file(self, path: Path) -> str:
        """What a dropped file becomes: an image, or a mention if it is a file of the workspace."""
        try:
            if path.stat().st_size <= LARGEST_IMAGE and image_type(data := path.read_bytes()):
                return self.talk.pasted.sign_for_image(data, path.name)
            return f"@{quoted_path(str(path.relative_to(self.talk.config.folder)))} "
        except (OSError, ValueError):
            return ""

    def open_editor(self) -> None:
        """Ctrl+G: write the prompt in $VISUAL or $EDITOR. Pasted texts are whole there."""
        self._fill_line(self.talk.pasted.whole_text(self.buffer.text))
        self.buffer.open_in_editor()

    def _narrow_rows(self, _: object) -> None:
        if self.picking is not None:
            self.picking.picker.narrow(self.buffer.text)

    def press_interrupt(self) -> None:
        """Ctrl+C: clear the line, else stop what is running, else quit at the second time."""
        now = asyncio.get_running_loop().time()
        if self.picking is not None:
            self.picking.give(None)
        elif self.asked is None and self.buffer.text:
            self.buffer.reset()
        elif self.inquiry is not None:
            self._give_answer(None)
        elif self.talk.interrupt():
            pass
        elif now - self._clearing_since < TWICE:
            self.leave()
        else:
            self._clearing_since = now
            self.show(Notice("Press Ctrl+C again to quit."))

    def unfold(self) -> None:
        """Show thinking from now on, with the last one, or fold it again."""
        screen = self.talk.screen
        screen.unfolded = not screen.unfolded
        if screen.unfolded and screen.last_thought:
            self.show(FoldedThought(screen.last_thought, open=True))
        else:
            self.show(Notice("Thinking is shown." if screen.unfolded else "Thinking is folded."))

    def _take_words(self, asked: QuestionLine, text: str) -> None:
        try:
            asked.take_words(text)
        except ValueError as error:
            self.show(Notice(printable(f"This answer cannot be used: {error}"), "bad"))

    def _give_answer(self, text: str | None) -> None:
        if self.inquiry is not None and not self.inquiry.answer.done():
            said = "(not shown)" if self.inquiry.secret else printable(text or "")
            self.show(Notice(f"  {said if text else 'no answer'}"))
            self.inquiry.answer.set_result(text)

    def _fill_line(self, text: str) -> None:
        self.buffer.reset()
        self.buffer.insert_text(text)

    # Drawing

    def _draw_frame(self) -> None:
        """Draw one frame: print finished pieces, draw the live view, and plan the next frame if needed."""
        loop = asyncio.get_running_loop()
        self._due = None
        if not self.app.is_running or self.app.is_done:
            return
        self._shown_at = loop.time()
        self._draw_live()
        if self._waiting:
            self._print_above()
        else:
            self.app.invalidate()
        if self.talk.busy:
            self._due = loop.call_later(TICK, self._draw_frame)
        elif self.talk.job_views() or self._had_jobs:
            self._due = loop.call_later(JOBS_TICK, self._draw_frame)
        self._had_jobs = bool(self.talk.job_views())

    def _draw_live(self) -> None:
        size = self.app.output.get_size()
        self.drawing.set_width(size.columns)
        live = self.talk.screen.live(asyncio.get_running_loop().time())
        room = self.bottom.room(size.columns, size.rows)
        self.live = self.drawing.live(live, room) if live.busy or live.queued else ""

    def _print_above(self) -> None:
        """Erase our lines, print above them, and draw them again."""
        text, self._waiting = "".join(self._waiting), []
        self.app.renderer.erase()
        self.app.output.write_raw(text.replace("\n", "\r\n"))
        self.app.output.flush()
        self.app._redraw()  # at once, so that the input line does not flicker

    def _print_rest(self) -> None:
        with suppress(OSError):
            self._stdout.write("".join(self._waiting))
            self._stdout.flush()

    def _application(self, stdin: Input | None) -> Application[None]:
        colour = self.drawing.theme.colour
        output = Vt100_Output(
            self._stdout, self._size, term=os.environ.get("TERM"), enable_bell=False, enable_cpr=False
        )
        app: Application[None] = Application(
            layout=Layout(self.bottom.container, focused_element=self.buffer),
            key_bindings=bindings(self),
            style=Style.from_dict(STYLE if colour else {}),
            color_depth=ColorDepth.DEPTH_4_BIT if colour else ColorDepth.DEPTH_1_BIT,
            include_default_pygments_style=False,
            erase_when_done=True,
            terminal_size_polling_interval=None,
            input=stdin,
            output=output,
        )
        app.before_render += self._erase_if_shrunk
        app.ttimeoutlen = 0.05
        app.timeoutlen = 0.1
        return app

    def _erase_if_shrunk(self, app: Application[None]) -> None:
        """Erase our lines when they become fewer, or the rows that are left would stay empty."""
        last = app.renderer.last_rendered_screen
        size = app.output.get_size()
        if last is not None:
            wanted = app.layout.container.preferred_height(size.columns, size.rows).preferred
            if wanted < last.height:
                app.renderer.erase()

    def _size(self) -> Size:
        try:
            size = os.get_terminal_size(self._stdout.fileno())
        except (OSError, ValueError):
            return Size(24, 80)
        return Size(size.lines or 24, size.columns or 80)
