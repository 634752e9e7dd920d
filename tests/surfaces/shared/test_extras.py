"""A command whose packages are missing says in one line what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from turnout.surfaces.shared.extras import missing_extra

WITHOUT = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refuse())
sys.argv = ["turnout", *{arguments!r}]
from turnout.__main__ import main
main()
"""


def run_without(
    packages: tuple[str, ...], arguments: list[str], home: Path, **variables: str
) -> tuple[int, str, str]:
    """The command in a process in which these packages cannot be imported."""
    code = WITHOUT.format(packages=packages, arguments=arguments)
    environment = {"HOME": str(home), "TERM": "xterm", "OPENAI_API_KEY": "sk-of-nobody", **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=home, env=environment, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("packages", "arguments", "extra"),
    [
        (("click", "prompt_toolkit", "rich"), [], "terminal"),
        (("click", "prompt_toolkit", "rich"), ["--version"], "terminal"),
        (("prompt_toolkit", "rich"), ["chat", "hello"], "terminal"),
        (("starlette", "uvicorn"), ["simulate", "--port", "0"], "simulate"),
    ],
)
def test_the_extra_is_named(
    packages: tuple[str, ...], arguments: list[str], extra: str, tmp_path: Path
) -> None:
    """One line on stderr with the extra to install, exit code 2, and no traceback."""
    code, out, err = run_without(packages, arguments, tmp_path)
    assert (code, out) == (2, ""), err
    assert err.startswith("turnout: this needs ") and err.endswith(f": pip install 'turnout[{extra}]'\n")
    assert err.count("\n") == 1


def test_other_missing_modules_are_not_an_extra() -> None:
    """A module that no extra brings is a fault of the installation, and is shown as one."""
    assert missing_extra(ModuleNotFoundError("No module named 'zlib'", name="zlib")) == ""
    assert "turnout[mcp]" in missing_extra(ModuleNotFoundError("", name="mcp.client"))
