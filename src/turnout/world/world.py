"""Everything that a session asks of the world outside, as one value: what differs between two runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..parameters import NamedFields
from ..tools.confine.threads import ThreadPort
from .keys import KeySource
from .learned_steps import LearnedSteps
from .ports import Chance, Transport, WallClock


class World(Struct, frozen=True, kw_only=True, metaclass=NamedFields):
    """Where requests go and what they are sent with. Each default is the real thing.

    `keys` are by provider, or by target. `debug` is called with what happens on the wire.
    `threads` run tools that block, and `save` keeps the whole text of a result that was cut.
    `provides` are values that tools ask for by their type: `database: Provided[Database]`.
    """

    transport: Transport | None = None  # None: HTTP
    keys: Mapping[str, KeySource] | None = None  # None: from the environment
    environment: Mapping[str, str] | None = None  # None: that of the process
    chance: Chance | None = None
    wall_clock: WallClock | None = None
    debug: Callable[..., None] | None = None
    threads: ThreadPort | None = None
    save: Callable[[str], str] | None = None
    learned: LearnedSteps | None = None  # what earlier sessions learned from refusals; None: nothing is kept
    provides: Sequence[Any] = ()
