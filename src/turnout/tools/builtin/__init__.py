"""Tools that come with turnout: files and commands of one workspace, the web, and the user.

One file per tool. Others import `BUILTIN` and `ANYWHERE`, or a single tool. Imports `tools.declare`,
`tools.policy` and `tools.confine`.
"""

from __future__ import annotations

from .ask import ask_user
from .background import list_background, read_background, stop_background
from .delete import delete_file
from .edit import edit_file
from .fetch import web_fetch
from .glob import glob
from .grep import grep
from .list import list_directory
from .overview import codebase_overview
from .patch import apply_patch
from .read import read_file, read_files
from .shell import shell
from .todo import todo
from .write import write_file

ANYWHERE = (web_fetch, todo, ask_user)
"""The tools that work without a workspace."""
BUILTIN = (
    *(read_file, read_files, list_directory, glob, grep, codebase_overview),
    *(write_file, edit_file, apply_patch, delete_file),
    *(shell, list_background, read_background, stop_background),
    *ANYWHERE,
)

__all__ = [
    "ANYWHERE",
    "BUILTIN",
    "apply_patch",
    "ask_user",
    "codebase_overview",
    "delete_file",
    "edit_file",
    "glob",
    "grep",
    "list_background",
    "list_directory",
    "read_background",
    "read_file",
    "read_files",
    "shell",
    "stop_background",
    "todo",
    "web_fetch",
    "write_file",
]
