"""Whether this machine can confine commands; tests that need it skip with the reason."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from turnout.tools.confine.sandbox import sandbox_for
from turnout.tools.confine.workspace import WorkspaceFiles


def why_not() -> str:
    with TemporaryDirectory() as folder, WorkspaceFiles(Path(folder)) as workspace:
        return sandbox_for(workspace).note


NOTE = why_not()
needs_sandbox = pytest.mark.skipif(bool(NOTE), reason=f"the sandbox was not tested: {NOTE}")
