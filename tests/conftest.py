"""Says at the end of a run what could not be tested on this machine."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import settings

# Each example has no time limit of its own: a busy machine must not pass for a fault.
settings.register_profile("turnout", deadline=None)
settings.load_profile("turnout")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line for each thing that this machine lacks; the sandbox, which matters most, comes last."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple))
    lacking = [each for each in reasons.items() if "not tested" in each[0] or "not installed" in each[0]]
    for reason, count in sorted(lacking, key=lambda each: "sandbox" in each[0]):
        tests = "1 test" if count == 1 else f"{count} tests"
        terminalreporter.write_line(f"{tests} skipped: {reason.removeprefix('Skipped: ')}")
