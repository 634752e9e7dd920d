"""Opens the sessions of one conversation: a new one, a stored one, or a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...errors import UsageError
from ...session.session import Session
from ...session.settings import Approval
from ...tools.declare.context import Asker
from ...tools.policy.approval import Approver
from ...world.config import Config
from ..shared.open_session import SessionArguments, find_session, open_session, stored_session
from .pacing import PacedTransport

if TYPE_CHECKING:
    from ...store import Store


class Opener:
    """The command line and the store, kept for as long as the program runs."""

    def __init__(
        self, wanted: SessionArguments, config: Config, debug: Callable[..., None] | None = None
    ) -> None:
        self.wanted = wanted
        self.config = config
        self.debug = debug
        self.transport = PacedTransport()
        settled = stored_session(wanted, config)
        self.store: Store | None = settled.get("store")
        self.first: str = settled.get("id", "")  # the session to resume, if any

    def open(self, approver: Approver, asker: Asker, id: str = "", model: str = "") -> Session:
        """The session with this id, or a new one; with this model, or the one that it had."""
        return open_session(
            replace(self.wanted, model=model),
            self.config,
            store=self.store,
            id=id,
            approval=Approval(approver=approver, asker=asker, save_rule=self.config.grants.add),
            transport=self.transport,
            debug=self.debug,
        )

    def find_session(self, given: str) -> str:
        """The id of a stored session, from an id or the beginning of one."""
        return find_session(self.required_store, given)

    def copy(self, id: str) -> str:
        """Copy a session; returns the id of the copy."""
        return self.required_store.fork(id)

    @property
    def required_store(self) -> Store:
        if self.store is None:
            raise UsageError("this conversation is not stored; start turnout without --no-store")
        return self.store

    async def close(self) -> None:
        await self.transport.close()
        if self.store is not None:
            self.store.close()
