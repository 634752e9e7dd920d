"""Tools of a session that a provider runs."""

from __future__ import annotations

from ..hosted_tools import hosted_kind
from ..model import ToolSpec

REMOTE = ("mcp", "mcp_toolset")


def is_remote(spec: ToolSpec) -> bool:
    """Whether its effects are not known: it is a server of someone else."""
    return spec.kind in REMOTE or hosted_kind(spec) in REMOTE
