"""A server that is a program: messages on its pipes, its error output kept, its whole tree ended.

It runs below the same supervisor as every command, with the short list of variables and those of its
configuration. To stop it, its input is closed first, as the protocol says; then the supervisor ends
it.
"""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ...json_size import has_more_values
from ..confine.output import HeadTail
from ..confine.process import Finished, SupervisedProcess
from ..confine.process import environment as command_environment
from ..confine.threads import in_daemon
from .config import McpServer
from .lines import MOST_VALUES, NO_MESSAGE, TOO_MANY_VALUES, UNREADABLE, Lines, TooLong, request_of

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

PATIENCE = 1.0  # seconds between closing a server's input and ending it
ERRORS = 16 * 1024  # bytes kept of what a server writes beside the protocol
LARGE = 256 * 1024  # bytes from which on a message is parsed in a thread
CHUNK = 64 * 1024
WAITING = 64  # messages that may wait for the server, so that a server that does not read blocks nothing


class StdioTransport:
    """One run of a server's program, as the pair of streams that a client needs. `gone` is called last."""

    def __init__(
        self, server: McpServer, environment: Mapping[str, str], folder: str, gone: Callable[[], None]
    ) -> None:
        self._server, self._folder, self._gone = server, folder, gone
        self._environment = {**command_environment(environment), **server.env}
        self._errors = HeadTail(ERRORS)
        self._program: SupervisedProcess | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.ended: Finished | None = None

    @property
    def errors(self) -> str:
        """The start and the end of the server's error output."""
        return self._errors.text()

    @property
    def _process(self) -> Process:
        assert self._program is not None
        return self._program.process

    async def __aenter__(self) -> Any:
        import anyio

        await self._start_program()
        self._incoming, read = anyio.create_memory_object_stream[Any](0)
        write, self._outgoing = anyio.create_memory_object_stream[Any](WAITING)
        for work in (self._read_messages(), self._write_messages(), self._collect_errors()):
            self._tasks.append(asyncio.create_task(work))
        self._streams = (self._incoming, read, write, self._outgoing)
        return read, write

    async def __aexit__(self, *_: object) -> None:
        stop = asyncio.ensure_future(self._stop_program())
        cancelled: asyncio.CancelledError | None = None
        while not stop.done():  # also when cancelled: no process may be left behind
            try:
                await asyncio.wait({stop})
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        stop.result()

    async def _start_program(self) -> None:
        folder = os.open(os.path.join(self._folder, self._server.cwd), os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._program = await SupervisedProcess.start(
                (self._server.command, *self._server.args),
                folder=folder,
                environment=self._environment,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
            )
        finally:
            os.close(folder)

    # Messages

    async def _read_messages(self) -> None:
        assert self._process.stdout is not None
        lines = Lines()
        with suppress(OSError):
            while chunk := await self._process.stdout.read(CHUNK):
                for line in lines.feed(chunk):
                    await self._deliver_line(line)
        self._incoming.close()
        self._gone()

    async def _deliver_line(self, line: bytes | TooLong) -> None:
        import anyio

        message = await _parse_line(line)
        if message is None:
            self._errors.feed((line.head if isinstance(line, TooLong) else line)[:1000] + b"\n")
            return
        with suppress(
            anyio.BrokenResourceError, anyio.ClosedResourceError
        ):  # the client is closed: continue to read, so that the server can end
            await self._incoming.send(message)

    async def _write_messages(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            async for sent in self._outgoing:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._process.stdin.write(text.encode(errors="replace") + b"\n")
                await self._process.stdin.drain()

    async def _collect_errors(self) -> None:
        assert self._process.stderr is not None
        with suppress(OSError):
            while chunk := await self._process.stderr.read(CHUNK):
                self._errors.feed(chunk)

    # The end

    async def _stop_program(self) -> None:
        assert self._program is not None and self._process.stdin is not None
        for stream in self._streams:
            stream.close()
        self._process.stdin.close()
        ended = asyncio.ensure_future(self._process.wait())
        await asyncio.wait({ended}, timeout=PATIENCE)
        if not ended.done():
            await self._program.end_tree(ended)
        self.ended = self._program.result()
        self._program.close()
        await self._close_pipes(ended)

    async def _close_pipes(self, ended: asyncio.Future[int]) -> None:
        """Close the pipes, also when something out of our reach still holds their other end."""
        await asyncio.wait({ended}, timeout=1.0)
        under_way: list[asyncio.Future[Any]] = [*self._tasks, ended]
        for each in under_way:
            each.cancel()
        await asyncio.wait(under_way)
        self._process._transport.close()  # type: ignore[attr-defined]


async def _parse_line(line: bytes | TooLong) -> SessionMessage | None:
    """The message of a line, or an error for the request that it answers; None if it is neither."""
    import mcp_types
    from mcp.shared.message import SessionMessage

    if isinstance(line, TooLong):
        return _error_message(line.request, "the answer is too long to be read")
    if len(line) > LARGE and has_more_values(line.decode("latin-1"), MOST_VALUES):
        return _error_message(request_of(line), TOO_MANY_VALUES)
    parse = partial(mcp_types.jsonrpc_message_adapter.validate_json, line, by_name=False)
    try:
        return SessionMessage(await in_daemon(parse) if len(line) > LARGE else parse())
    except (ValueError, RecursionError):  # it is not JSON, not a message, or nested too deeply
        return _error_message(request_of(line), NO_MESSAGE)


def _error_message(request: int | None, text: str) -> SessionMessage | None:
    import mcp_types
    from mcp.shared.message import SessionMessage

    if request is None:
        return None
    error = mcp_types.ErrorData(code=UNREADABLE, message=text)
    return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=request, error=error))


def how_it_ended(finished: Finished | None) -> str:
    """The end of a server's program in words."""
    if finished is None:
        return "it ended"
    if finished.errno:
        return f"it could not be started: {os.strerror(finished.errno)}"
    if finished.signal:
        return f"it was ended by signal {finished.signal}"
    return "it ended" if finished.code is None else f"it ended with exit code {finished.code}"
