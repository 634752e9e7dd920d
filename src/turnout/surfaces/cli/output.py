"""How commands print values: JSON for machines, plain tables for people."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import msgspec

from ..shared.clean_text import json_line


def value(item: Any) -> Any:
    """A struct as plain JSON."""
    return msgspec.to_builtins(item)


def json_text(item: Any) -> str:
    """A value as indented JSON, safe to print in a terminal."""
    return json_line(json.dumps(value(item), ensure_ascii=False, indent=2))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Columns that fit the terminal. Long cells are wrapped, never truncated."""
    width = width or max(60, shutil.get_terminal_size((120, 24)).columns)
    widths = _widths(head, rows, width)
    lines = [_table_line(head, widths), _table_line(["-" * size for size in widths], widths)]
    for row in rows:
        cells = [wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True)]
        for at in range(max(map(len, cells))):
            lines.append(_table_line([cell[at] if at < len(cell) else "" for cell in cells], widths))
    return "\n".join(lines)


def indented_text(text: str, indent: str) -> str:
    """A line below another one. A terminal breaks it between words; in a pipe it stays one line."""
    if not sys.stdout.isatty():
        return indent + text
    width = max(20, shutil.get_terminal_size().columns)
    return "\n".join(wrap(text, width, initial_indent=indent, subsequent_indent=indent))


def _widths(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    natural = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    spare = width - 2 * (len(head) - 1)
    fair = spare // len(head)
    widths = [min(size, max(len(title), fair)) for size, title in zip(natural, head, strict=True)]
    for at, size in enumerate(natural):
        widths[at] += max(0, min(size - widths[at], spare - sum(widths)))
    return widths


def _table_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(size) for cell, size in zip(cells, widths, strict=True)).rstrip()
