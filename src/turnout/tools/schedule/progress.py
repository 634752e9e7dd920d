"""Reports of a running tool, from any thread, passed on in order and in bounded memory.

A tool may report faster than the loop reads. Reports wait in a short list until the loop
flushes it; output is joined, the oldest steps are dropped, and the end of the output is
kept in case the call is stopped before it can return.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from threading import Lock

from ..declare.events import ToolProgress

WAITING = 256
"""Steps that may wait for the loop; older ones are dropped."""

OUTPUT = 64 * 1024
"""Characters of output that may wait, and that are kept for a call that is stopped."""


class Reporter:
    """One call's reports. `wake` asks the loop to call `flush` soon; any thread may report."""

    def __init__(
        self, call_id: str, tell: Callable[[ToolProgress], None], wake: Callable[[Callable[[], None]], None]
    ) -> None:
        self.call_id = call_id
        self.dropped = 0
        self._tell = tell
        self._wake = wake
        self._lock = Lock()
        self._waiting: deque[ToolProgress] = deque()
        self._awake = False
        self._closed = False
        self._tail: deque[str] = deque()
        self._tail_size = 0

    def __call__(self, event: ToolProgress) -> None:
        with self._lock:
            if self._closed:
                return
            self._keep_tail(event.output)
            self._queue_event(event)
            if self._awake:
                return
            self._awake = True
        self._wake(self.flush)

    def flush(self) -> None:
        """Pass on what waits; called by the loop."""
        with self._lock:
            waiting, self._waiting, self._awake = self._waiting, deque(), False
        for event in _join_output(waiting):
            self._tell(event)

    def close(self) -> None:
        """Pass on what waits and accept nothing more: the call has its outcome."""
        self.flush()
        with self._lock:
            self._closed = True

    @property
    def output(self) -> str:
        """The end of the output."""
        with self._lock:
            return "".join(self._tail)[-OUTPUT:]

    def _queue_event(self, event: ToolProgress) -> None:
        if len(event.output) > OUTPUT:
            event = ToolProgress(event.call_id, output=event.output[-OUTPUT:])
        self._waiting.append(event)
        if len(self._waiting) > WAITING:
            self._waiting.popleft()
            self.dropped += 1

    def _keep_tail(self, output: str) -> None:
        if not output:
            return
        self._tail.append(output[-OUTPUT:])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= OUTPUT:
            self._tail_size -= len(self._tail.popleft())


def _join_output(events: deque[ToolProgress]) -> Iterator[ToolProgress]:
    """The same reports with neighbouring pieces of output as one."""
    pieces: list[str] = []
    call_id = ""
    for event in events:
        if event.output:
            pieces.append(event.output)
            call_id = event.call_id
            continue
        if pieces:
            yield ToolProgress(call_id, output="".join(pieces)[-OUTPUT:])
            pieces = []
        yield event
    if pieces:
        yield ToolProgress(call_id, output="".join(pieces)[-OUTPUT:])
