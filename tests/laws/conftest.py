"""Shows at the end of a run how often each kind of step and each diagnostic code occurred."""

from __future__ import annotations

from collections import Counter
from typing import Any

TALLY = "turnout tally"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tallies: dict[str, Counter[str]] = {}
    for report in terminalreporter.stats.get("passed", ()):
        for name, (title, counts) in (item for item in report.user_properties if item[0] == TALLY):
            assert name == TALLY
            tallies.setdefault(title, Counter()).update(counts)
    for title, counts in sorted(tallies.items()):
        listed = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        terminalreporter.write_line(f"{title}: {listed}")
