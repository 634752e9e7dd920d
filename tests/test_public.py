"""The public names: listed once, loaded when used, stable, and known to type checkers."""

from __future__ import annotations

import subprocess
import sys
from difflib import unified_diff
from pathlib import Path

import pytest
from tests.public_names import COMMAND, LIST, surface_lines

import turnout
from turnout.lazy_names import homes_of_names

SOURCE = Path(turnout.__file__).parent


def test_the_public_surface_is_the_one_on_the_list() -> None:
    """A name, a parameter or a method that comes or goes shows in a diff of the list."""
    changed = unified_diff(
        LIST.read_text().splitlines(), surface_lines(), "listed", "found", lineterm="", n=0
    )
    shown = "\n".join(changed)
    assert not shown, f"The public surface changed. If that is meant, run `{COMMAND}`.\n{shown}"


def test_each_name_stands_once_in_the_source() -> None:
    """`public.py` is import statements, one for each name, and `__init__.py` repeats none of them."""
    lines = (SOURCE / "public.py").read_text().split('"""')[2].split("\n")
    statements = [line for line in lines if line]
    assert all(line.startswith("from .") for line in statements)
    assert sorted(line.rpartition(" as ")[2] for line in statements) == sorted(homes_of_names())
    repeated = {name for name in homes_of_names() if f" {name}\n" in (SOURCE / "__init__.py").read_text()}
    assert not repeated


@pytest.mark.parametrize("name", sorted(homes_of_names()))
def test_every_name_can_be_imported(name: str) -> None:
    """`from turnout import NAME` gives what its home defines; `dir()` shows it."""
    found = getattr(turnout, name)
    home = sys.modules[homes_of_names()[name]]
    assert found is getattr(home, name) and name in dir(turnout)


def test_a_star_import_brings_the_names_and_not_the_modules() -> None:
    """`from turnout import *` does not shadow a user's own `tools` or `errors`."""
    assert {"Session", "render", "__version__"} <= set(turnout.__all__)
    assert not {"errors", "simulate", "tools", "workers"} & set(turnout.__all__)
    assert {"errors", "simulate", "tools", "workers"} <= set(dir(turnout))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """With the words that Python uses for any module; `from turnout import` makes an ImportError of it."""
    with pytest.raises(AttributeError, match="module 'turnout' has no attribute 'Sesion'"):
        _ = turnout.Sesion  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'Sesion'"):
        exec("from turnout import Sesion", {})


def test_names_are_found_without_source_text(tmp_path: Path) -> None:
    """An installation that holds compiled files only, as some bundlers make, has every name."""
    program = (
        "import compileall, pathlib, shutil, sys\n"
        f"home = pathlib.Path({str(tmp_path)!r}) / 'turnout'; home.mkdir()\n"
        f"for name in ('__init__', 'public', 'lazy_names', 'errors'):\n"
        f"    shutil.copy({str(SOURCE)!r} + f'/{{name}}.py', home)\n"
        "compileall.compile_dir(home, legacy=True, quiet=1)\n"
        "for path in home.glob('*.py'): path.unlink()\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import turnout\n"
        "print(len(turnout.__all__), turnout.__file__.endswith('pyc'), turnout.UsageError.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{len(turnout.__all__)} True UsageError\n", done.stderr
