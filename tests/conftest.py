"""Says at the end of a run what could not be tested on this machine."""

from __future__ import annotations

from collections import Counter
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line for each reason why tests of the sandbox were left out."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple))
    for reason, count in reasons.items():
        if "sandbox was not tested" in reason:
            terminalreporter.write_line(f"{count} tests skipped. {reason.removeprefix('Skipped: ')}")
