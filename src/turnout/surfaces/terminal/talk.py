"""The conversation: what the user types, what the session does, what the screen shows.

It is independent of the terminal: input comes in as text, output goes out as pieces. One thing runs
at a time, in its own task, so that the user can always type.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ...errors import TurnoutError
from ...model import Block
from ...session.events import Complete, SessionEvent, Status
from ...session.session import Session
from ...tools.builtin.background import KEY as BACKGROUND
from ...tools.builtin.background import BackgroundCommand
from ...tools.confine.file_text import decode_text, is_binary
from ...tools.declare.context import Question
from ...tools.declare.events import ToolResult
from ...tools.policy.approval import ApprovalRequest, Decision
from ...tools.policy.rules import MODES
from ...world.secrets import Secrets
from ..shared.clean_text import printable
from ..shared.failure_advice import failure_advice
from ..shared.mcp_servers import servers_of, unused_server_lines
from ..shared.mentions import AttachedFiles, attached_files
from ..shared.usage_counts import count_use
from .approval_question import question_of
from .edge import Edge
from .jobs_panel import JobView
from .opener import Opener
from .pasted import PastedParts
from .pieces import Notice, Piece, Rows, Tone, UserWords
from .recall import recalled_pieces
from .screen import Screen
from .status_line import StatusFacts
from .unsent import UnsentPrompts

if TYPE_CHECKING:
    from ...tools.mcp.servers import McpServers
    from .user_commands import UserCommand

LARGEST_LOOK = 1024 * 1024


class Talk:
    """One conversation, which may go through several sessions."""

    def __init__(self, opener: Opener, model: str = "", secrets: Secrets | None = None) -> None:
        self.opener = opener
        self.config = opener.config
        self.secrets = secrets or Secrets(opener.config.environment)
        self.secrets.keys = lambda: self.session.keys.secrets()
        self.session: Session = opener.open(self.approve, self.answer, opener.first, model)
        self.screen = Screen(self.look, self.secrets.hide, self.advise)
        self.edge: Edge = None  # type: ignore[assignment]  # set by the edge, before the first prompt
        self.user_commands: dict[str, UserCommand] = {}
        self.servers: McpServers | None = None
        self.aside: list[Block] = []  # blocks that go with the next prompt
        self.pasted = PastedParts()
        self._stand_in = ""  # who answers after a failover
        self._unsent = UnsentPrompts(opener.config.places) if opener.store is not None else None
        self._task: asyncio.Task[None] | None = None
        self._later: list[str] = []
        self._asides: set[asyncio.Task[None]] = set()  # the event loop holds tasks only weakly
        self._one_question = asyncio.Lock()
        self._status_facts: StatusFacts | None = None
        self._shown_lines: set[str] = set()  # lines about MCP servers that were shown

    # What the user does

    def take_line(self, text: str) -> None:
        """Take a typed line: a prompt, a `/command`, or a `!command` of the shell."""
        text = text.strip()
        if text.startswith("/") and not text.startswith("//"):
            self._command(text)
        elif text.startswith("!") and len(text) > 1:
            self._shell(text[1:].strip())
        elif text:
            self.prompt(text)

    def prompt(self, text: str) -> None:
        """Send a prompt: now, after the running tools, or after other work."""
        if self.busy and not self.session.busy:
            self._later.append(text)
            self._save_unsent()
            return
        words, *images = self.pasted.blocks_of(text)
        added = attached_files(text, self.session.scheduler.workspace)
        # the text first: a resumed session shows the first block
        blocks = (words, *self.aside, *images, *added.blocks)
        self.aside = []
        if self.session.busy:
            self.session.queue(blocks)
            self.screen.queued.append(text)
            self._save_unsent()
            self.edge.refresh()
        else:
            self.edge.show(UserWords(text), *_file_notices(added))
            self.begin(self._converse(blocks))

    def _save_unsent(self) -> None:
        """Keep the prompts that wait, so that a killed program does not lose them."""
        if self._unsent is not None:
            waiting = [*self.screen.queued, *self._later]
            self._unsent.save(self.session.id, [self.pasted.whole_text(text) for text in waiting])

    def open_folded(self) -> None:
        """Show the last thing that was folded; again: the one before it."""
        if (piece := self.screen.take_folded()) is not None:
            self.edge.show(piece)
        else:
            self.edge.show(Notice("Nothing is folded."))

    def interrupt(self) -> bool:
        """Stop what is running; False if nothing was."""
        if self._task is None or self._task.done():
            return False
        if self.session.busy:
            self.session.cancel()
        else:
            self._task.cancel()
        return True

    def next_mode(self) -> None:
        """Switch to the next approval mode. `full` is left out: one key press too many must not reach it."""
        modes = [mode for mode in MODES if mode != "full"]
        now = self.session.scheduler.policy.mode
        self.set_mode(modes[(modes.index(now) + 1) % len(modes)] if now in modes else modes[0])

    async def confirm(self, question_of: str) -> bool:
        """Whether the user types yes to this question."""
        async with self._one_question:
            self.edge.show(Notice(question_of, "warn"))
            typed = await self.edge.inquire("yes to confirm (esc: no)")
        return typed is not None and typed.lower() in ("y", "yes")

    def do_aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that asks the user, also while a reply is running."""
        if not self.busy:
            self.begin(work, quiet=True)
            return
        task = asyncio.get_running_loop().create_task(self._show_failure(work))
        self._asides.add(task)
        task.add_done_callback(self._asides.discard)

    def set_mode(self, mode: Any) -> None:
        policy = self.session.scheduler.policy
        self.session.scheduler.policy = replace(policy, mode=mode)
        self.refresh_status()

    async def leave(self) -> None:
        """Stop everything that runs, and close the session."""
        self._later.clear()
        for aside in self._asides:
            aside.cancel()
        self.interrupt()
        await self.wait_until_idle()
        if self.servers is not None:
            await self.servers.close()
        await self.session.close()
        await self.opener.close()

    # What runs

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def idle(self) -> bool:
        """Whether nothing runs; tells the user if something does."""
        if self.busy:
            self.edge.show(Notice("Something is running: wait for it, or stop it with Esc.", "warn"))
        return not self.busy

    def begin(self, work: Coroutine[Any, Any, None], *, quiet: bool = False) -> None:
        """Do something in the background, one thing at a time; `quiet` if the user is waited for."""
        if not quiet:
            self.screen.begin(self.now())
        self._task = asyncio.get_running_loop().create_task(self._run_guarded(work))
        self._task.add_done_callback(self._send_later)
        self.edge.refresh()

    def _send_later(self, _: object) -> None:
        """Send the prompts that were typed while something other than a reply was running."""
        later, self._later = self._later, []
        for text in later:
            self.prompt(text)
        if later:
            self._save_unsent()

    async def wait_until_idle(self) -> None:
        """Wait until nothing runs."""
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    async def _show_failure(self, work: Awaitable[None]) -> None:
        try:
            await work
        except (TurnoutError, OSError) as error:
            self.edge.show(Notice(printable(self.secrets.hide(str(error))), "bad"))

    async def _run_guarded(self, work: Awaitable[None]) -> None:
        try:
            await self._show_failure(work)
        except asyncio.CancelledError:
            self.edge.show(Notice("Interrupted.", "warn"))
        finally:
            self.screen.stop()
            self.refresh_status()

    def start_servers(self) -> None:
        """Start the trusted MCP servers. Their tools can be used from the next turn on."""
        self.servers = servers_of(self.config)
        if self.servers is not None:
            self.servers.start()
            self._show_unused_servers("untrusted")

    async def _settle_servers(self) -> None:
        """Use the tools that the servers offer now, from this turn on."""
        if self.servers is not None:
            await self.servers.settle()
            self.servers.update(self.session.scheduler.registry)
            self._show_unused_servers()

    def _show_unused_servers(self, *states: str) -> None:
        """Show once which servers are not used, and what to do about it."""
        assert self.servers is not None
        for line in unused_server_lines(self.servers, *states):
            if line not in self._shown_lines:
                self._shown_lines.add(line)
                self.edge.show(Notice(line, "warn"))

    async def _converse(self, blocks: tuple[Block, ...]) -> None:
        await self._settle_servers()
        self._stand_in = ""
        ended: SessionEvent | None = None
        while blocks:
            replies = len(self.session.turns)
            async for ended in self.session.run(blocks):
                self.take(ended)
            count_use(self.session.store, self.session.turns[replies:])
            blocks = self._undelivered_blocks(isinstance(ended, Complete))

    def _undelivered_blocks(self, continues: bool) -> tuple[Block, ...]:
        """Queued prompts that were not delivered: sent now, or put back if the run did not end well."""
        waiting = [block for blocks in self.session.take_queued() for block in blocks]
        texts, self.screen.queued = self.screen.queued, []
        if texts:
            self._save_unsent()
        if waiting and continues:
            self.edge.show(*(UserWords(text) for text in texts))
            self.screen.begin(self.now())
            return tuple(waiting)
        if texts:
            self.edge.put_back("\n".join(texts))
        return ()

    def take(self, event: SessionEvent) -> None:
        """Show what an event finished, and update the live view."""
        queued = list(self.screen.queued)
        pieces: list[Piece] = list(self.screen.feed(event, self.now()))
        if queued and not self.screen.queued:  # delivered: now they are part of the conversation
            pieces = [*pieces, *(UserWords(text) for text in queued)]
            self._save_unsent()
        if pieces:
            self.edge.show(*pieces)
        if isinstance(event, Status) and event.kind == "switched" and event.target is not None:
            self._stand_in = str(event.target) if event.target != self.session.target.origin else ""
        if isinstance(event, Status | ToolResult):  # a reply came, or another model will answer
            self._status_facts = None
        self.edge.refresh()

    def _command(self, text: str) -> None:
        from .commands import run_slash_command

        run_slash_command(self, text)

    def _shell(self, command: str) -> None:
        from .shell_command import run_shell_command

        if self.idle():
            self.begin(run_shell_command(self, command))

    # Sessions

    async def go_to(self, id: str = "", model: str = "") -> None:
        """Switch to another session, or to a new one."""
        following = self.opener.open(self.approve, self.answer, id, model)
        mode = self.session.scheduler.policy.mode
        following.scheduler.policy = replace(following.scheduler.policy, mode=mode)
        await self.session.close()
        for tool in self.session.scheduler.registry:
            if tool.name not in following.scheduler.registry:  # tools of MCP servers, which keep running
                following.scheduler.registry.add(tool)
        self.session = following
        self.screen = Screen(self.look, self.secrets.hide, self.advise)
        self.aside = []
        self.refresh_status()

    def recall(self) -> None:
        """Show the last turns of a resumed session."""
        if self.session.history.turns:
            self.edge.show(*recalled_pieces(self.session.history))
        if self._unsent is not None and (texts := self._unsent.take(self.session.id)):
            self.edge.show(Notice("A prompt that was not sent is in the input line again.", "warn"))
            self.edge.put_back("\n".join(texts))

    # Ports

    async def approve(self, request: ApprovalRequest) -> Decision:
        """Ask the user; one question at a time."""
        async with self._one_question:
            registry = self.session.scheduler.registry
            risk = registry[request.tool].risk if request.tool in registry else "risky"
            asked = question_of(request, self.look, risk)
            self.edge.show(asked)
            decided = await self.edge.ask(request, asked)
            if decided.arguments is not None:
                self.screen.name_call(request.call_id, decided.arguments)
            return decided

    async def answer(self, asked: Question) -> str | None:
        """The user's answer to a question of a tool: words, or the number of a choice."""
        async with self._one_question:
            self.edge.show(Notice(printable(asked.text), "warn"))
            if asked.choices:
                rows = [(str(number), choice) for number, choice in enumerate(asked.choices, 1)]
                self.edge.show(Rows(tuple(rows)))
            typed = await self.edge.inquire("your answer (esc: none)")
        if typed and typed.isdigit() and 1 <= int(typed) <= len(asked.choices):
            return asked.choices[int(typed) - 1]
        return typed

    def background_lines(self) -> list[str]:
        """The commands that run in the background, one line each."""
        return [each.line for each in self._background_commands()]

    def job_views(self) -> list[JobView]:
        """The commands that run in the background, as the panel shows them."""
        return [
            JobView(each.number, each.command, each.seconds, each.last_line)
            for each in self._background_commands()
        ]

    def _background_commands(self) -> list[BackgroundCommand]:
        held = self.session.scheduler.state.get(BACKGROUND)
        return held.live if held is not None else []

    def look(self, path: str) -> str | None:
        """The text of a file of the workspace, to show what would change; None if it is not text."""
        try:
            data, _ = self.session.scheduler.workspace.read(path, LARGEST_LOOK)
        except (OSError, ValueError):
            return None
        return None if is_binary(data) else decode_text(data).text.replace("\r\n", "\n")

    def advise(self, kind: str) -> str:
        """What to do about a failed request of the current model."""
        return failure_advice(kind, self.session.target, self.config.environment)

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    # Status

    def refresh_status(self) -> None:
        """Something in the status line may have changed."""
        self._status_facts = None
        self.edge.refresh()

    @property
    def status_facts(self) -> StatusFacts:
        if self._status_facts is None:
            session = self.session
            self._status_facts = StatusFacts(
                str(session.target.origin),
                session.scheduler.policy.mode,
                session.compressor.used_tokens(),
                session.target.facts.context,
                session.cost,
                self._stand_in,
            )
        return replace(self._status_facts, jobs=len(self._background_commands()))  # they end by themselves


def _file_notices(added: AttachedFiles) -> list[Notice]:
    """Below a prompt: the files that go with it, and those that are not there."""
    tone_of: dict[bool, Tone] = {True: "dim", False: "warn"}
    return [
        Notice(f"  {printable(line)}", tone_of[at < len(added.paths)], follows=True)
        for at, line in enumerate(added.lines)
    ]
