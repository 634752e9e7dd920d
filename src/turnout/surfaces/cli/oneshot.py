"""`turnout run`: one prompt, its answer on stdout, everything else on stderr."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from typing import Any, TextIO

import click
import msgspec

from ...errors import LimitReached, ProviderError, TurnoutError, UsageError
from ...model import ModelTurn
from ...runtime.events import Cancelled, Complete, Discarded, Failed, Nested, SessionEvent, Status, Terminal
from ...runtime.loop import total_usage
from ...runtime.session import Session
from ...streaming.events import TextDelta
from ...tools.events import ToolResult, ToolState
from .clean import printable
from .debugging import Debug
from .opening import Wanted, configuration, open_session
from .output import value

EXIT_OK, EXIT_PROVIDER, EXIT_USAGE, EXIT_CONFIGURATION, EXIT_LIMIT, EXIT_REFUSED, EXIT_INTERRUPTED = (
    0,
    1,
    2,
    3,
    4,
    5,
    130,
)


@click.command()
@click.option("-p", "--prompt", default=None, help="What to ask. Text on stdin is added as context.")
@click.option("-m", "--model", default="", help="provider:model, or a name from the configuration.")
@click.option("--fallback", multiple=True, help="Another model to go on with when the first one fails.")
@click.option("-c", "--continue", "continues", is_flag=True, help="Go on with the latest session.")
@click.option("-r", "--resume", default="", metavar="ID", help="Go on with that session.")
@click.option(
    "--fork", is_flag=True, help="With -c or -r: leave that session as it is and go on with a copy."
)
@click.option("--output-format", type=click.Choice(["text", "json", "stream-json"]), default="text")
@click.option(
    "--approval-mode", "approval", type=click.Choice(["ask", "auto-edit", "plan", "full"]), default=None
)
@click.option("--allow", multiple=True, help="Allow a tool, or tool(pattern).")
@click.option("--deny", multiple=True, help="Deny a tool, or tool(pattern).")
@click.option("--max-turns", type=click.IntRange(1), default=None, help="Rounds of tool calls at the most.")
@click.option("--max-budget-usd", "max_cost", type=float, default=None)
@click.option("--json-schema", type=click.File("rb"), default=None, help="Ask for an answer of this shape.")
@click.option("--system", default="", help="System text in place of ours.")
@click.option("--cwd", "folder", default="", help="The folder to work in.")
@click.option("--profile", default="", help="A profile of the configuration.")
@click.option("--base-url", default="", help="Another address of the model's API.")
@click.option(
    "--debug", type=click.Path(dir_okay=False), default=None, help="Write requests and reports there."
)
@click.option("--no-store", is_flag=True, help="Keep nothing of this session.")
@click.pass_context
def run(
    ctx: click.Context,
    prompt: str | None,
    output_format: str,
    json_schema: Any,
    debug: str | None,
    no_store: bool,
    approval: str | None,
    **wanted: Any,
) -> None:
    """Ask once and print the answer. Progress goes to stderr.

    Exit codes: 0 answered, 1 provider error, 2 usage, 3 key or configuration, 4 limit reached,
    5 refused by policy, 130 interrupted.

        git diff | turnout run -p "Review this" -m anthropic:claude-sonnet-4-5
    """
    asked = Wanted(approval=approval or "", stored=not no_store, **wanted)
    text = full_prompt(prompt, sys.stdin)
    shape = None if json_schema is None else msgspec.json.decode(json_schema.read())
    ctx.exit(asyncio.run(OneShot(asked, text, output_format, shape, debug).run()))


def full_prompt(prompt: str | None, stdin: TextIO) -> str:
    """The prompt, with what was piped in as its context."""
    piped = "" if stdin.isatty() else stdin.read()
    if prompt is None and not piped.strip():
        raise UsageError("nothing to ask: give -p PROMPT, or a text on stdin")
    return "\n\n".join(part for part in (prompt, piped.strip()) if part)


class OneShot:
    """One prompt from opening to exit code."""

    def __init__(self, wanted: Wanted, prompt: str, form: str, shape: Any, debug: str | None) -> None:
        self.wanted = wanted
        self.prompt = prompt
        self.form = form
        self.shape = shape
        self.debug = Debug(debug)
        self.denials: list[dict[str, str]] = []

    async def run(self) -> int:
        try:
            config = configuration(self.wanted)
            for path in config.untrusted:
                self._tell(f"{path} is not trusted and has no effect; `turnout config --trust` trusts it")
            session = open_session(self.wanted, config, debug=self.debug)
        except TurnoutError as error:
            self._tell(f"turnout: {error}")
            return EXIT_USAGE if isinstance(error, UsageError) else EXIT_CONFIGURATION
        async with session:
            self._heed_signals(session)
            options = {"schema": self.shape} if self.shape is not None else {}
            terminal = await self._listen(session, options)
            return self._conclude(session, terminal)

    def _heed_signals(self, session: Session) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, session.cancel)
            except NotImplementedError:  # Windows: Ctrl+C raises KeyboardInterrupt instead
                return

    async def _listen(self, session: Session, options: dict[str, Any]) -> Terminal:
        async for event in session.run(self.prompt, **options):
            self._show(event)
            if isinstance(event, Terminal):
                return event
        raise TurnoutError("the run ended without a word")  # pragma: no cover: a run always ends

    def _show(self, event: SessionEvent) -> None:
        if isinstance(event, ToolResult) and event.outcome.status == "denied":
            self.denials.append({"tool": event.name, "call_id": event.call_id, "why": event.outcome.text})
        if self.form == "stream-json" and not isinstance(event, Terminal):
            self._print_line(jsonable(event))
        match event:
            case ToolState(_, name, state) if state in ("executing", "denied", "error"):
                self._tell(f"{name}: {state}")
            case Status(kind, detail) if kind != "tools":
                self._tell(f"{kind}: {detail}")

    def _conclude(self, session: Session, terminal: Terminal) -> int:
        text = terminal.turn.text if isinstance(terminal, Complete) else ""
        if self.form == "text":
            if text:
                click.echo(printable(text))
        else:
            self._print_line(self._result(session, terminal, text))
        if isinstance(terminal, Failed):
            self._tell(f"turnout: {terminal.error}")
        return self._exit_code(terminal)

    def _exit_code(self, terminal: Terminal) -> int:
        match terminal:
            case Cancelled():
                return EXIT_INTERRUPTED
            case Failed(error):
                return exit_code_of(error)
            case _:
                return EXIT_REFUSED if self.denials and not terminal.turn.text.strip() else EXIT_OK

    def _result(self, session: Session, terminal: Terminal, text: str) -> dict[str, Any]:
        by_model: dict[str, list[ModelTurn]] = {}
        for turn in session.turns:
            by_model.setdefault(str(turn.origin), []).append(turn)
        failed = terminal.error if isinstance(terminal, Failed) else None
        return {
            "type": "result",
            "status": {Complete: "complete", Failed: "failed", Cancelled: "cancelled"}[type(terminal)],
            "session_id": session.id,
            "text": printable(text),
            "turns": len(session.turns),
            "usage": {
                name: value(total_usage(turn.usage for turn in turns)) for name, turns in by_model.items()
            },
            "cost_usd": session.cost,
            "denials": self.denials,
            "diagnostics": [value(item) for item in session.history.diagnostics],
            "error": None if failed is None else {"kind": Failed(failed).kind, "message": str(failed)},
        }

    def _print_line(self, line: Any) -> None:
        click.echo(json.dumps(line, ensure_ascii=False))

    def _tell(self, line: str) -> None:
        click.echo(printable(line), err=True)


def exit_code_of(error: TurnoutError) -> int:
    if isinstance(error, LimitReached):
        return EXIT_LIMIT
    if isinstance(error, ProviderError) and error.kind == "auth":
        return EXIT_CONFIGURATION
    return EXIT_USAGE if isinstance(error, UsageError) else EXIT_PROVIDER


def jsonable(event: Any) -> Any:
    """An event as one line of JSON."""
    if isinstance(event, Nested):
        return {"type": "nested", "call_id": event.call_id, "event": jsonable(event.event)}
    if isinstance(event, TextDelta):
        return {"type": "text_delta", "text": printable(event.text)}
    if isinstance(event, Discarded | Status | ToolState):
        return value(event)
    return msgspec.to_builtins(event, enc_hook=str)
