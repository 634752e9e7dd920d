"""The attempts to leave the sandbox, as data."""

from __future__ import annotations

import ast
import errno

import pytest

from turnout.tools.confine.probes import DENIALS, PROBES, RUNNER, Probe


def test_every_attempt_has_its_own_name() -> None:
    """A failure is reported by it."""
    assert len({probe.name for probe in PROBES}) == len(PROBES) > 50


@pytest.mark.parametrize("probe", PROBES, ids=[probe.name for probe in PROBES])
def test_every_attempt_is_valid_python(probe: Probe) -> None:
    """A fault in the attempt itself would prove nothing."""
    assert ast.parse(probe.code).body


def test_the_runner_is_valid_python_and_denials_are_errors_of_the_system() -> None:
    """A denial is one of a few error numbers; any other end is a fault."""
    ast.parse(RUNNER)
    assert set(DENIALS) <= set(errno.errorcode.values())
