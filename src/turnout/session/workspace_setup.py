"""Open what a session works with: the folder of its tools, and its store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tools.confine.output import SavedOutput
from ..tools.confine.sandbox import sandbox_for
from ..tools.confine.workspace import WorkspaceFiles
from ..world.places import Places
from .settings import Workspace

if TYPE_CHECKING:
    from ..store import Store


def workspace_ports(workspace: Workspace | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """The ports of a workspace: its files, how commands run in it, and where long results go."""
    if workspace is None:
        return {}
    saved, own = SavedOutput(), Places.of(environment)
    files = WorkspaceFiles(workspace.path, saved=saved)
    hidden = [str(own.config), str(own.data), str(own.state)]
    spawn = sandbox_for(files, network=workspace.network, hidden=hidden)
    return {"workspace": files, "spawn": spawn, "save": saved.save}


def open_store_at(
    store: Store | str | Path | None, environment: Mapping[str, str]
) -> tuple[Store | None, bool]:
    """The store, and whether this session opened it and so must close it."""
    if not isinstance(store, str | Path):
        return store, False
    from ..store import Store  # the database is loaded when it is needed

    return Store.at(store, environment=environment), True
