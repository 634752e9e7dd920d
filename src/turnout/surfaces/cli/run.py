"""`turnout run`: one prompt. The answer goes to stdout, everything else to stderr."""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

import click

from ...errors import TurnoutError, UsageError
from ...model import Block, ModelTurn, Text
from ...plain import loads
from ...providers.cost import cost_of
from ...session.events import Cancelled, Complete, Failed, SessionEvent, Status, Terminal, Waiting
from ...session.rounds import OURSELVES
from ...session.session import Session
from ...session.typed import Shape
from ...tools.declare.events import ToolResult, ToolState
from ...tools.declare.validator import validator_of
from ...world.config import Config
from ...world.secrets import Secrets
from ..shared.clean_text import json_line, one_line, printable
from ..shared.failure_advice import failure_advice
from ..shared.mcp_servers import servers_of, unused_server_lines
from ..shared.mentions import attached_files
from ..shared.open_session import (
    CHOOSE,
    SessionArguments,
    configuration,
    confinement_warning,
    open_session,
    stored_session,
)
from ..shared.signals import handling_signals
from ..shared.usage_counts import count_use, usage_by_model
from . import exit_codes as exits
from .debug_log import DebugLog
from .options import session_options
from .run_result import Denial, Ending, RunResult, SessionOpened, line, trouble

LARGEST_INPUT = 16 * 1024 * 1024
SILENCE = 2.0
"""Seconds without input on stdin after which we say that we are waiting for it."""


@click.command("run")
@click.argument("words", nargs=-1, metavar="[PROMPT]")
@click.option(
    "-p",
    "--prompt",
    "--print",
    "prompt",
    default="",
    is_flag=False,
    flag_value="",
    metavar="[PROMPT]",
    help="The prompt, here or as the argument. Text on stdin is added as context.",
)
@click.option(
    "--output-format",
    "form",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    show_default=True,
    help="text: the answer; json: one result object; stream-json: session, every event, result.",
)
@click.option("--json-schema", "shape", default=None, help="JSON Schema of the answer: a file, or JSON.")
@session_options
@click.pass_context
def run_command(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    prompt: str,
    form: str,
    shape: str | None,
    debug: str | None,
    no_store: bool,
    approval: str | None,
    **wanted: Any,
) -> None:
    """Ask once and print the answer. Progress goes to stderr.

    Tools run as the approval mode and the rules allow. You cannot be asked here, so calls
    that need approval are refused. `@file` in the prompt attaches that file.

    \b
    Exit codes: 0 answered           3 key or configuration
                1 provider error     4 a limit was reached
                2 usage              5 refused by policy
                130 interrupted (SIGINT, SIGTERM, SIGHUP); the session can be resumed

    \b
    Examples:
      turnout run "What does this project do?"
      git diff | turnout -p "Review this" -m claude-sonnet-5
      turnout run "Fix the failing test" --approval-mode auto-edit --allow "shell(pytest*)"
      turnout run -c -p "And now in French" --output-format json | jq -r .text
    """
    asked = SessionArguments(approval=approval or "", stored=not no_store, **wanted)
    shot = OneShot(asked, form, schema_of(shape), debug)
    if wanted["resume"] == CHOOSE:
        raise UsageError("-r without an ID asks you to choose, which needs a conversation; give -r ID, or -c")
    prompt = " ".join((prompt, *words)).strip()
    ctx.exit(asyncio.run(shot.answer(prompt, piped_text(bool(prompt)))))


def piped_text(has_prompt: bool) -> str:
    """The text on stdin, if it is not a terminal."""
    stdin = sys.stdin
    if stdin is None or stdin.closed or stdin.isatty():
        data = b""
    else:
        _warn_if_silent(stdin)
        data = stdin.buffer.read(LARGEST_INPUT + 1)
    if len(data) > LARGEST_INPUT:
        raise UsageError(
            f"stdin has more than {LARGEST_INPUT:,} bytes; put the text into a file and name it in the prompt"
        )
    text = data.decode(errors="replace").strip()
    if not has_prompt and not text:
        raise UsageError("there is no prompt; give -p PROMPT, or text on stdin")
    return text


def _warn_if_silent(stdin: TextIO) -> None:
    """Tell the user that we wait: a pipe that stays open would look like a program that hangs."""
    try:
        ready, _, _ = select.select([stdin], [], [], SILENCE)
    except (OSError, ValueError):  # not a real file, or a system without select for files
        return
    if not ready:
        click.echo("waiting for text on stdin; use `< /dev/null` if there is none", err=True)


def schema_of(given: str | None) -> dict[str, Any] | None:
    """The schema of --json-schema: JSON, or a file that holds it."""
    if given is None:
        return None
    try:
        text = given if given.lstrip().startswith("{") else Path(given).read_text(encoding="utf-8")
        schema = loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"--json-schema {given!r}: {error}; give a file or a JSON object") from None
    if not isinstance(schema, dict):
        raise UsageError(
            f'--json-schema {given!r} is not a JSON object; give a schema such as {{"type": "object"}}'
        )
    try:
        validator_of(schema)
    except UsageError as error:
        raise UsageError(
            f"--json-schema is not a valid schema; correct it: {one_line(str(error), 400)}"
        ) from None
    return schema


class OneShot:
    """One prompt from opening to exit code."""

    def __init__(
        self, wanted: SessionArguments, form: str, schema: dict[str, Any] | None, debug: str | None
    ) -> None:
        self.wanted = wanted
        self.form = form
        self.schema = schema
        self.secrets = Secrets(os.environ)
        self.debug = DebugLog(debug, self.secrets)
        self.denials: list[Denial] = []
        self.guard = ""  # why the run was cut short, if it was
        self.interrupted = False
        self._stop: Callable[[], object] = _do_nothing

    async def answer(self, prompt: str, piped: str) -> int:
        task = asyncio.current_task()
        assert task is not None
        self._stop = task.cancel
        with handling_signals(self._note_interrupt, "SIGINT", "SIGTERM", "SIGHUP"):
            try:
                return await self._run_session(prompt, piped)
            except asyncio.CancelledError:
                if not self.interrupted:
                    raise
                return exits.INTERRUPTED  # before the prompt was sent

    def _note_interrupt(self) -> None:
        self.interrupted = True
        self._stop()

    async def _run_session(self, prompt: str, piped: str) -> int:
        config = configuration(self.wanted)
        for path in config.untrusted:
            self._write_stderr(
                f"{path} is not trusted and has no effect; `turnout config --trust` shows and trusts it"
            )
        settled = stored_session(self.wanted, config)
        try:
            session = open_session(self.wanted, config, debug=self.debug, **settled)
            self.secrets.keys = session.keys.secrets
            untouched = config.settings.approval != "full" and session.scheduler.workspace is not None
            if not untouched and (openly := confinement_warning(session)):
                self._write_stderr(openly)
            async with session, self._running_servers(session, config):
                return await self._converse(session, self._prompt_blocks(session, prompt, piped))
        finally:
            if (store := settled.get("store")) is not None:
                store.close()

    @asynccontextmanager
    async def _running_servers(self, session: Session, config: Config) -> AsyncIterator[None]:
        """The trusted MCP servers, for as long as the run lasts."""
        servers = servers_of(config)
        if servers is None:
            yield
            return
        async with servers:
            await servers.settle()
            servers.update(session.scheduler.registry)
            for line in unused_server_lines(servers):
                self._write_stderr(line)
            yield

    def _prompt_blocks(self, session: Session, prompt: str, piped: str) -> tuple[Block, ...]:
        """The prompt with the files that it mentions, then the text of stdin as it is."""
        added = attached_files(prompt, session.scheduler.workspace)
        for told in added.lines:
            self._write_stderr(told)
        blocks = (Text(prompt), *added.blocks) if prompt else ()
        return (*blocks, *((Text(piped),) if piped else ()))

    async def _converse(self, session: Session, prompt: tuple[Block, ...]) -> int:
        history, replies = session.history, len(session.turns)
        entries, diagnostics = len(history.entries), len(history.diagnostics)
        self._stop = session.cancel
        if self.form == "stream-json":
            self._write_stdout(line(SessionOpened(session.id, str(session.target.origin))))
        options = {"schema": self.schema} if self.schema is not None else {}
        terminal = await self._run_to_end(session, prompt, options)
        self._stop = _do_nothing  # only the report is left
        turns = session.turns[replies:]
        count_use(session.store, turns)
        output, terminal = self._typed_output(terminal)
        result = RunResult(
            status=self._ending_of(terminal, session),
            exit_code=self._exit_code(terminal, session),
            session_id=session.id,
            text=terminal.turn.text if isinstance(terminal, Complete) else "",
            output=output,
            turns=sum(map(_is_from_model, history.entries[entries:])),
            usage=usage_by_model(turns),
            cost_usd=cost_of(turns),
            denials=tuple(self.denials),
            diagnostics=tuple(history.diagnostics[diagnostics:]),
            error=trouble(terminal.error, self.secrets.hide) if isinstance(terminal, Failed) else None,
        )
        self._print_result(result)
        if isinstance(terminal, Failed):
            advice = failure_advice(terminal.kind, session.target, session.environment)
            self._write_stderr(advice) if advice else None
        return result.exit_code

    async def _run_to_end(
        self, session: Session, prompt: tuple[Block, ...], options: dict[str, Any]
    ) -> Terminal:
        async for event in session.run(prompt, **options):
            if self.interrupted:
                session.cancel()
            if isinstance(event, Terminal):
                return event
            self._show_event(event)
        raise TurnoutError("bug: the run ended without a terminal event")  # pragma: no cover

    def _show_event(self, event: SessionEvent) -> None:
        if self.form == "stream-json":
            self._write_stdout(line(event))
        match event:
            case ToolResult(call_id, name, outcome) if outcome.status == "denied":
                self.denials.append(Denial(name, call_id, outcome.text))
            case ToolState(_, name, state) if state in ("executing", "denied", "error"):
                self._write_stderr(f"{name}: {state}")
            case Status("guard", why):
                self.guard = why
                self._write_stderr(f"stopped: {why}")
            case Status(kind, detail) if kind != "tools":
                self._write_stderr(f"{kind}: {one_line(detail)}")

    def _typed_output(self, terminal: Terminal) -> tuple[Any, Terminal]:
        """The answer as JSON if there is a schema. An answer that does not fit is a failure."""
        if self.schema is None or not isinstance(terminal, Complete):
            return None, terminal
        shape = Shape.of(self.schema)
        assert shape is not None
        try:
            return shape.read(terminal.turn.text), terminal
        except UsageError as error:
            return None, Failed(TurnoutError(one_line(str(error))))

    def _ending_of(self, terminal: Terminal, session: Session) -> Ending:
        endings: dict[int, Ending] = {exits.OK: "complete", exits.LIMIT: "limit", exits.REFUSED: "refused"}
        endings[exits.INTERRUPTED] = "cancelled"
        return endings.get(self._exit_code(terminal, session), "failed")

    def _exit_code(self, terminal: Terminal, session: Session) -> int:
        match terminal:
            case Cancelled():
                return exits.INTERRUPTED
            case Failed(error):
                return exits.code_of(error)
            case Waiting():  # what was asked for is not done until someone answers
                return exits.REFUSED
            case Complete(turn):
                if self.guard:
                    return exits.LIMIT
                return exits.REFUSED if turn.stop == "refused" or self._ended_refused(session) else exits.OK

    def _ended_refused(self, session: Session) -> bool:
        """Whether policy refused one of the last calls of this run, so that the work was not done."""
        refused = {denial.call_id for denial in self.denials}
        turns = [turn for turn in session.history.turns if isinstance(turn, ModelTurn) and turn.tool_calls]
        return bool(turns) and any(call.id in refused for call in turns[-1].tool_calls)

    def _print_result(self, result: RunResult) -> None:
        if self.form != "text":
            self._write_stdout(line(result))
        elif result.output is not None:
            self._write_stdout(output_line(result.output))
        elif result.text:
            self._write_stdout(printable(result.text))
        if result.error is not None:
            self._write_stderr(f"turnout: {result.error.message}")

    def _write_stdout(self, text: str) -> None:
        """Print on stdout, with the secrets that we hold redacted."""
        click.echo(self.secrets.hide_known(text))

    def _write_stderr(self, text: str) -> None:
        click.echo(printable(self.secrets.hide(text)), err=True)


def _is_from_model(entry: Any) -> bool:
    """Whether a model wrote this turn, and not turnout itself."""
    return isinstance(entry, ModelTurn) and entry.origin != OURSELVES


def _do_nothing() -> None:
    return None


def output_line(output: Any) -> str:
    return json_line(json.dumps(output, ensure_ascii=False))
