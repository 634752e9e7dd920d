"""What is loaded, and when: nothing with the package, HTTP and the database only where they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loaded(statement: str) -> set[str]:
    """The modules that a fresh process has after a statement and did not have before."""
    script = f"import sys\nbefore = set(sys.modules)\n{statement}\nprint(*sorted(set(sys.modules) - before))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(told.stdout.split())


def test_the_package_alone_loads_nothing() -> None:
    """`import turnout` costs a program that does not use it nothing to speak of."""
    assert loaded("import turnout") <= {"turnout", "__future__"}


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import turnout; turnout.render", {"asyncio", "httpx2", "apsw", "jsonschema_rs", "rich"}),
        (
            "import turnout; turnout.Session('openai:gpt-5.1')",
            {"httpx2", "apsw", "starlette", "rich", "click"},
        ),
    ],
)
def test_what_is_not_used_is_not_loaded(statement: str, absent: set[str]) -> None:
    """A request is made without asyncio; a session without HTTP client, database or terminal."""
    assert not loaded(statement) & absent


WITHOUT_EXTRAS = """
import sys
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("opentelemetry", "mcp", "mcp_types"):
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Lacking())
from turnout import *
import turnout
assert all(name in globals() for name in turnout.__all__)
try:
    OpenTelemetry()
except UsageError as error:
    print(error)
"""


def test_everything_can_be_imported_without_extras() -> None:
    """`from turnout import *` works; what an extra is needed for says so when it is made."""
    told = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True)
    assert told.stdout == "OpenTelemetry is an extra: pip install 'turnout[otel]'\n", told.stderr
