"""Output whose reader is gone, as in `turnout sessions | head -1`."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from typing import TextIO


def is_unread(*streams: TextIO) -> bool:
    """Whether one of these is a pipe whose reader is gone."""
    if not hasattr(select, "poll"):
        return True  # Windows cannot say; a pipe that breaks there is most likely ours
    return any(_has_lost_its_reader(stream) for stream in streams)


def _has_lost_its_reader(stream: TextIO) -> bool:
    with suppress(OSError, ValueError):  # a stream without a descriptor is not a pipe
        poll = select.poll()
        poll.register(stream.fileno(), select.POLLOUT)
        return any(state & select.POLLERR for _, state in poll.poll(0))
    return False


def discard_output(*streams: TextIO) -> None:
    """Send what is still buffered to the null device, so that the flush at exit does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
