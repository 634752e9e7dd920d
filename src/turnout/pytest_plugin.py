"""The pytest plugin (entry point `pytest11`). It imports nothing of turnout until a test uses a fixture.

So it stands here and not in `testing`: every run of pytest loads it where turnout is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .testing.fixture import TurnoutFixture


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --turnout-record, and the setting turnout_record."""
    words = "Cassettes of turnout: once (record what is missing), none (only play), all (record anew)."
    parser.getgroup("turnout").addoption(
        "--turnout-record", choices=("once", "none", "all"), default=None, help=words
    )
    parser.addini("turnout_record", words, default="once")


@pytest.fixture
def turnout(request: pytest.FixtureRequest) -> Iterator[TurnoutFixture]:
    """For every session of this test: a scripted model (`turnout.script`), or a cassette."""
    from .testing.fixture import TurnoutFixture

    config = request.config
    record = config.getoption("--turnout-record") or config.getini("turnout_record")
    failed = request.session.testsfailed
    made = TurnoutFixture(request.path, request.node.name, record)
    yield made
    made.end(passed=request.session.testsfailed == failed)


@pytest.fixture
def forbid_requests() -> Iterator[None]:
    """Every real request of the test is a clear error; requests to this machine are allowed."""
    from .tools.confine.forbidden_requests import forbid_requests

    with forbid_requests():
        yield
