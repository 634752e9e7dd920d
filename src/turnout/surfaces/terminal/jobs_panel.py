"""The commands that run in the background, drawn above the input line while they run. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from prompt_toolkit.utils import get_cwidth

from ..shared.clean_text import one_line, visible
from .drawing import fit_columns

MOST = 3
"""Commands that are in view; /jobs lists all."""


class JobView(Struct, frozen=True):
    """One command in the background, and the last line that it wrote."""

    number: int
    command: str
    seconds: float
    last_line: str = ""


def job_lines(jobs: Sequence[JobView], width: int, ellipsis: str = "…") -> list[str]:
    """One line a command: its number, its time, the command, and where there is room what it wrote last."""
    lines = [_job_line(job, width, ellipsis) for job in jobs[:MOST]]
    if len(jobs) > MOST:
        lines.append(fit_columns(f"   and {len(jobs) - MOST} more: /jobs lists them", width, ellipsis))
    return lines


def _job_line(job: JobView, width: int, ellipsis: str) -> str:
    lead = f" [{job.number}] {_duration(job.seconds)}  "
    room = max(width - get_cwidth(lead), 1)
    command = fit_columns(visible(one_line(job.command, 200)), room, ellipsis)
    left = room - get_cwidth(command) - 3
    said = visible(one_line(job.last_line, 200))
    told = f" > {fit_columns(said, left, ellipsis)}" if said and left >= 12 else ""
    return f"{lead}{command}{told}"


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
