"""Views of the workspace and the sandbox without the files that rules deny.

A tool or a command that walks a folder names no file that policy could judge. So each call works in
a view of the workspace that gives out no denied content, and commands run with it covered. Where no
rule denies a path, a call gets the workspace itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from ..policy.rules import Policy
from .beneath import PathRefused, whereabouts
from .denied_files import DeniedFiles
from .file_names import escape_name
from .open_folder import Entry
from .workspace import WorkspaceFiles


class PortGuard:
    """Gives each call its view; keeps what was found, for calls under the same rules."""

    def __init__(self, workspace: Any, spawn: Any) -> None:
        self._workspace, self._spawn = workspace, spawn
        self._known: dict[tuple[str, ...], DeniedFiles] = {}

    def workspace_for(self, policy: Policy, tool: str) -> Any:
        denied = self._denied_files(policy, tool)
        return GuardedWorkspace(self._workspace, denied) if denied else self._workspace

    def spawn_for(self, policy: Policy, tool: str) -> Any:
        """How a command runs: with denied files covered, where there is a sandbox."""
        denied = self._denied_files(policy, tool)
        covering = getattr(self._spawn, "with_covered", None)
        return covering(denied) if denied and covering else self._spawn

    def _denied_files(self, policy: Policy, tool: str) -> DeniedFiles | None:
        patterns = tuple(rule.path for rule in policy.hides(tool))
        if not patterns or not isinstance(self._workspace, WorkspaceFiles):
            return None
        if patterns not in self._known:
            self._known = {patterns: DeniedFiles(patterns, self._workspace.root)}
        return self._known[patterns]


class GuardedWorkspace(WorkspaceFiles):
    """A workspace from which no denied content can be read, under any of its names."""

    leaves_out = "what rules deny is left out"

    def __init__(self, workspace: WorkspaceFiles, denied: DeniedFiles) -> None:
        self.__dict__.update(workspace.__dict__)
        self._denied_files = denied

    def close(self) -> None:
        """Nothing to close: the open folders belong to the workspace."""

    def denies(self, path: str) -> bool:
        try:
            os.close(self._descriptor(path, getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)))
        except PathRefused as refused:
            return refused.rule == "denied"
        except OSError:
            return False
        return False

    def walk(
        self, path: str = ".", leave_out: Callable[[str, Entry], bool] = lambda path, entry: False
    ) -> Iterator[tuple[str, Entry]]:
        """As in the workspace, without denied entries."""
        by_content = self._denied_files.has_other_names

        def left_out(name: str, entry: Entry) -> bool:
            denied = self._denied_files.names(name) or (
                (by_content or entry.kind == "link") and self.denies(name)
            )
            return denied or leave_out(name, entry)

        return super().walk(path, left_out)

    def _descriptor(self, path: str, flags: int) -> int:
        descriptor = super()._descriptor(path, flags)
        try:
            self._require_allowed(descriptor, path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _require_allowed(self, descriptor: int, path: str) -> None:
        place = self.place_of(descriptor)
        if place is None:
            place = whereabouts(descriptor) or os.path.normpath(path)
        if self._denied_files.holds(place or ".", os.fstat(descriptor)):
            raise PathRefused("denied", f"{escape_name(path)} is denied by a rule of the user")
