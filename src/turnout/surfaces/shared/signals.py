"""Signals of the system as calls of ours, for as long as something runs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def handling_signals(action: Callable[[], object], *names: str) -> Iterator[None]:
    """Call `action` when one of these signals comes, in place of what it would do otherwise.

    One that is ignored stays ignored: so `nohup` has it. Where the event loop knows no signals
    (Windows), Ctrl+C stays a KeyboardInterrupt.
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
