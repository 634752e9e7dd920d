"""One gate for everything that leaves the process: a test closes it, and every request is a clear error.

Whatever opens a connection asks `check_request` first: requests to models, the fetch tool, MCP servers
at an address, tokens of Google. The process as a whole is closed, not one task, because code under test
may start tasks and threads of its own.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType

from ...errors import UsageError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def forbid_requests(forbid: bool = True, *, allow_loopback: bool = True) -> AbstractContextManager[None]:
    """For tests: forbid every request of this process.

    It holds from the call on. Used with `with`, it holds until the end of the block. Requests to this
    machine stay allowed, for servers that a test starts; `allow_loopback=False` forbids those as well,
    which matters where an Ollama or vLLM may run. `forbid_requests(False)` allows everything again.
    """
    global _gate
    before, _gate = _gate, (forbid, allow_loopback)
    return ForbiddenRequests(before)


class ForbiddenRequests:
    """The closed gate as a block: at its end the gate is as it was before."""

    def __init__(self, before: tuple[bool, bool]) -> None:
        self._before = before

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _gate
        _gate = self._before


_gate = (False, True)  # is it closed, and is this machine open all the same


def check_request(host: str) -> None:
    """Raise where a request to this host is forbidden."""
    is_closed, allows_loopback = _gate
    if not is_closed or (allows_loopback and host in LOOPBACK):
        return
    rest = "use a loopback address, " if allows_loopback else ""
    raise UsageError(
        f"forbid_requests() forbids a request to {host}; {rest}give the session a ScriptedModel or a "
        "Cassette of turnout.testing, or call forbid_requests(False)"
    )
