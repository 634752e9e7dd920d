"""Tools that come with turnout: files and commands of one workspace."""

from __future__ import annotations

from .edit import edit_file
from .grep import grep
from .list import list_directory
from .overview import codebase_overview
from .read import read_file
from .shell import shell
from .write import write_file

BUILTIN = (read_file, list_directory, grep, codebase_overview, write_file, edit_file, shell)

__all__ = [
    "BUILTIN",
    "codebase_overview",
    "edit_file",
    "grep",
    "list_directory",
    "read_file",
    "shell",
    "write_file",
]
