"""Calls a function on signals of the operating system, for as long as a block runs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def handling_signals(action: Callable[[], object], *names: str) -> Iterator[None]:
    """Call `action` on one of these signals, instead of the default action.

    A signal that is ignored stays ignored: `nohup` relies on that. On Windows the event loop has no
    signal handlers, so Ctrl+C stays a KeyboardInterrupt.
    """
    loop = asyncio.get_running_loop()
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]
    numbers = [number for number in known if signal.getsignal(number) != signal.SIG_IGN]
    heeded = []
    try:
        for number in numbers:
            loop.add_signal_handler(number, action)
            heeded.append(number)
    except NotImplementedError:
        pass
    try:
        yield
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
