"""The ground a session stands on: the folder that its tools work in, the store that keeps it."""

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


def place_of_work(workspace: Workspace | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """What tools are told of the workspace, how commands run in it, and where long results go."""
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
    """The store, and whether it was opened here, to be closed here."""
    if not isinstance(store, str | Path):
        return store, False
    from ..store import Store  # the database is loaded when it is needed

    return Store(store, environment=environment), True
