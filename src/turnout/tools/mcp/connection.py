"""The connection to one server: started, listed, kept, started again after a crash, and closed.

A separate task holds the connection, because the MCP package must be closed in the task that opened
it; calls come from any task. A call is sent once. If the server crashes during a call, the model is
told that the effect of the call is unknown.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from ... import __version__
from ...errors import UsageError
from ...model import Outcome
from ..confine.output import readable
from ..confine.threads import in_daemon
from ..declare.context import ToolContext
from ..declare.problems import shorten_text
from ..declare.result import error_outcome
from .config import McpServer, expand_references
from .http import http_transport
from .lines import NO_MESSAGE
from .pins import OfferedTool, ServerOffer
from .result_check import ResultChecks
from .results import outcome_of
from .stdio import StdioTransport, how_it_ended

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import ErrorData

Phase = Literal["idle", "starting", "connected", "waiting", "failed", "closed"]

CHANGED = "notifications/tools/list_changed"
RELISTEN, LONGEST_RELISTEN = 0.5, 60.0  # seconds before a broken stream of changes is opened again
SHOWN = 500  # characters of an error that are shown
MISSING = "the package for MCP is not installed: pip install 'turnout[mcp]'"


class McpLimits(Struct, frozen=True):
    """Limits of a server: seconds to start and to answer a call, tries, pauses, and how much it may list."""

    start: float = 30.0
    call: float = 120.0
    attempts: int = 5
    first_pause: float = 0.5
    longest_pause: float = 30.0
    steady: float = 30.0  # seconds; a server that was up this long counts as healthy
    relist_pause: float = 1.0
    close: float = 8.0
    pages: int = 50
    tools: int = 500
    listing: int = 4 * 1024 * 1024


class Connection:
    """A server and its state. `on_change` is called whenever the state changes.

    `trusts` says whether the user has agreed to an offer; without that no call is sent.
    """

    def __init__(
        self,
        server: McpServer,
        *,
        trusts: Callable[[ServerOffer | None], bool],
        environment: Mapping[str, str],
        folder: str,
        limits: McpLimits,
        on_change: Callable[[], None],
    ) -> None:
        self.server = server
        self.phase: Phase = "idle"
        self.detail = ""
        self.errors = ""
        self.offer: ServerOffer | None = None
        self._environment, self._folder = environment, folder
        self._limits, self._trusts, self._on_change = limits, trusts, on_change
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._result_checks = ResultChecks()
        self._wake = asyncio.Event()
        self._settled = asyncio.Event()  # nothing is in progress that a call would wait for
        self._lost = self._stale = self._closing = False

    def start(self) -> None:
        """Start the connection; a no-op while there is one."""
        if self._task is None or self._task.done():
            self._closing = False
            self._enter_phase("starting")
            self._task = asyncio.create_task(self._keep_connected(), name=f"mcp {self.server.name}")

    async def wait_settled(self) -> None:
        """Wait until the server is connected, or has failed."""
        await self._settled.wait()

    async def close(self) -> None:
        """Close the connection and end everything that was started for it."""
        self._closing = True
        self._wake.set()
        if self._task is not None:
            if self.phase == "connected":  # then the task ends by itself
                await asyncio.wait({self._task}, timeout=self._limits.close)
            self._task.cancel()
            await asyncio.wait({self._task})
        self._enter_phase("closed")

    # Calls

    async def call(self, tool: OfferedTool, arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
        """Call a tool of the server; every error becomes an outcome."""
        client = await self._within_reach()
        if client is None:
            why = self.detail or ("its tools keep changing" if self._stale else "it does not answer")
            return error_outcome(
                f"The MCP server {self.server.name} is not available: {why}. The call was not sent."
            )
        if not self._trusts(self.offer) or self.offer is None or tool not in self.offer.tools:
            return error_outcome(_changed_tools_message(self.server.name))
        return await self._call_tool(client, tool.name, arguments, context)

    async def _call_tool(
        self, client: Client, name: str, arguments: Mapping[str, Any], context: ToolContext
    ) -> Outcome:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED

        try:
            result = await client.call_tool(
                name, dict(arguments), progress_callback=_progress_callback(context)
            )
        except MCPError as error:
            if error.error.code == CONNECTION_CLOSED:
                return error_outcome(_lost_call_message(self.server.name))
            if self.server.url and "session" in error.error.message.lower():
                self._mark_lost()  # it was restarted and does not know our session: connect again
            return error_outcome(f"{self.server.name}: {shorten_text(_words_of(error.error), SHOWN)}")
        except (ValueError, RuntimeError) as error:  # it breaks the protocol or its own schema
            return error_outcome(
                f"{self.server.name} gave an answer that cannot be read: {shorten_text(str(error), SHOWN)}"
            )
        return outcome_of(result.model_dump(by_alias=True, mode="json", exclude_none=True))

    async def _check_result(self, name: str, result: Any) -> None:
        """Replaces the check of the MCP package, which cannot be stopped."""
        self._result_checks.check(self.offer.tools if self.offer else (), name, result)

    async def _within_reach(self) -> Client | None:
        """The client, once the server is connected, if that happens in time."""
        if self.phase in ("starting", "waiting", "connected") and not self._settled.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.start):
                    await self._settled.wait()
        return self._client if self._settled.is_set() else None

    # The task

    async def _keep_connected(self) -> None:
        """Connect, and again after each failure, with growing pauses; give up after a few."""
        failures = 0
        loop = asyncio.get_running_loop()
        while True:
            self._enter_phase("starting")
            began = loop.time()
            # An old server may crash on the new discovery request, so every other try uses the old handshake.
            why = await self._connect_once("legacy" if failures % 2 else "auto")
            failures = 0 if loop.time() - began >= self._limits.steady else failures + 1
            if self._closing:
                return
            if not why.again or failures >= self._limits.attempts:
                self._enter_phase("failed", why.text)
                return
            self._enter_phase("waiting", why.text)
            await self._pause(min(self._limits.first_pause * 2**failures / 2, self._limits.longest_pause))

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._closing:
                    await self._wake.wait()
                    self._wake.clear()

    async def _connect_once(self, mode: str) -> _EndReason:
        """One connection from its beginning to its end, and why it ended."""
        self._lost = self._stale = False
        self._wake.clear()
        transport: Any = None
        try:
            await in_daemon(
                partial(import_module, "mcp")
            )  # the import takes a second; the loop runs meanwhile
            transport = self._transport()
            await self._run_client(transport, mode)
            why = _EndReason("it ended")
        except Exception as error:  # the package raises any error, alone or in groups
            why = self._reason_for(_cause(error))
        finally:
            self._client = None
        return self._reason_from_program(transport, why)

    def _reason_for(self, error: BaseException) -> _EndReason:
        match error:
            case ImportError():
                return _EndReason(MISSING, again=False)
            case UsageError():
                return _EndReason(str(error), again=False)
            case TimeoutError():
                return _EndReason(
                    f"it did not answer within {self._limits.start:g} seconds", is_complete=True
                )
            case _:
                return _EndReason(shorten_text(f"{type(error).__name__}: {error}", SHOWN))

    def _transport(self) -> Any:
        server = expand_references(self.server, self._environment)
        if server.url:
            return http_transport(server)
        return StdioTransport(server, self._environment, self._folder, self._mark_lost)

    async def _run_client(self, transport: Any, mode: str) -> None:
        from mcp import Client
        from mcp_types import Implementation

        _silence_loggers()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._limits.start):
                client = await stack.enter_async_context(
                    Client(
                        transport,
                        mode=mode,
                        cache=None,
                        client_info=Implementation(name="turnout", version=__version__),
                        message_handler=self._on_message,
                    )
                )
                setattr(client.session, "validate_tool_result", self._check_result)  # noqa: B010
                offer = await self._list_tools(client)
            self._take_offer(client, offer)
            await stack.enter_async_context(_Listening(client, self._mark_changed))
            await self._serve_client(client)

    async def _serve_client(self, client: Client) -> None:
        """Wait until the list of tools changes (then list again), or the connection is lost or closed."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._closing or self._lost:
                return
            if self._stale:
                await asyncio.sleep(self._limits.relist_pause)  # it may change again at once
                self._stale = False
                async with asyncio.timeout(self._limits.start):
                    offer = await self._list_tools(client)
                self._take_offer(client, offer)

    async def _list_tools(self, client: Client) -> ServerOffer:
        """Everything that the server offers, within limits."""
        tools: list[Any] = []
        size, cursor = 0, None
        for _ in range(self._limits.pages):
            page = await client.list_tools(cursor=cursor)
            for each in page.tools:
                tools.append(each.model_dump(by_alias=True, mode="json", exclude_none=True))
                size += len(msgspec.json.encode(tools[-1]))
            cursor = page.next_cursor
            if len(tools) > self._limits.tools or size > self._limits.listing:
                raise UsageError(f"it lists {len(tools):,} tools in {size:,} bytes, which is over the limit")
            if not cursor:
                info = client.server_info
                return ServerOffer.of(info.name if info else "", info.version if info else "", tools)
        raise UsageError(f"its list of tools is longer than the limit of {self._limits.pages} pages")

    # Events

    def _take_offer(self, client: Client, offer: ServerOffer) -> None:
        self._client, self.offer = client, offer
        if not self._stale:
            self._enter_phase("connected")

    async def _on_message(self, message: Any) -> None:
        if getattr(message, "method", "") == CHANGED:
            self._mark_changed()

    def _mark_changed(self) -> None:
        """The tools have changed: no call is sent before they are listed again."""
        self._stale = True
        self._settled.clear()
        self._wake.set()

    def _mark_lost(self) -> None:
        self._lost = True
        self._settled.clear()
        self._wake.set()

    def _enter_phase(self, phase: Phase, detail: str = "") -> None:
        self.phase, self.detail = phase, detail
        (self._settled.set if phase in ("connected", "failed", "closed") else self._settled.clear)()
        self._on_change()

    def _reason_from_program(self, transport: Any, why: _EndReason) -> _EndReason:
        """A better reason from the error output of its program, if there is one."""
        if not isinstance(transport, StdioTransport):
            return why
        self.errors = transport.errors
        if why.is_complete or not why.again:
            return why
        last = next((line.strip() for line in reversed(self.errors.splitlines()) if line.strip()), "")
        return _EndReason(shorten_text(how_it_ended(transport.ended) + (f" ({last})" if last else ""), SHOWN))


class _EndReason(Struct, frozen=True):
    """Why a connection ended, whether another try may help, and whether the text is complete."""

    text: str
    again: bool = True
    is_complete: bool = False


class _Listening:
    """Newer servers report changes only on a stream that the client opens; older ones always do."""

    def __init__(self, client: Client, changed: Callable[[], None]) -> None:
        self._client, self._mark_changed = client, changed
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        tools = self._client.server_capabilities.tools
        if self._client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools and tools.list_changed:
            self._task = asyncio.create_task(self._listen_again())

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _listen_again(self) -> None:
        """Listen for changes. When the stream breaks, list again at once, and open a new stream."""
        pause = RELISTEN
        while await self._listen_once():
            self._mark_changed()
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_RELISTEN)

    async def _listen_once(self) -> bool:
        """Listen until the stream ends; False if it could not be opened."""
        opened = False
        with suppress(Exception):
            async with self._client.listen(tools_list_changed=True) as events:
                opened = True
                async for _ in events:  # each is also handed to the handler of messages
                    continue
        return opened


def _progress_callback(context: ToolContext) -> Callable[..., Any]:
    async def tell_progress(progress: float, total: float | None, message: str | None) -> None:
        if total and 0 <= progress <= total:
            context.progress(progress / total)
        if message:
            context.progress(readable(message.encode(errors="replace")))

    return tell_progress


def _lost_call_message(server: str) -> str:
    return (
        f"The MCP server {server} ended during this call. It is unknown whether the call had an effect. "
        "It was not sent again."
    )


def _changed_tools_message(server: str) -> str:
    return (
        f"The MCP server {server} has changed its tools since the user agreed to them. The user must "
        "review the change first. The call was not sent."
    )


def _words_of(error: ErrorData) -> str:
    """What a server or the MCP package says went wrong; the package writes a page on a parse error."""
    from mcp_types import PARSE_ERROR

    is_unreadable = error.code == PARSE_ERROR and "validation error" in error.message
    return NO_MESSAGE if is_unreadable else error.message


def _cause(error: BaseException) -> BaseException:
    """The first cause; the MCP package wraps it in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _silence_loggers() -> None:
    """Keep log messages of the MCP package away from the terminal."""
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
