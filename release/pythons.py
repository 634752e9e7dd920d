"""The Pythons of this machine, and clean environments of theirs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from .archives import ROOT

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
MANAGED = (".pyenv/versions/*/bin/python3", ".local/share/uv/python/*/bin/python3")
"""Where version managers keep their Pythons, below the home folder."""

PIN = re.compile(r"^([\w.-]+==\S+?)(?:\s*;\s*([^\\\n]+?))?\s*\\?$", re.MULTILINE)


def found_pythons() -> dict[str, Path]:
    """One interpreter for each version that turnout supports, as far as there is one."""
    named = [shutil.which(f"python{version}") for version in VERSIONS]
    managed = [path for pattern in MANAGED for path in sorted(Path.home().glob(pattern))]
    found: dict[str, Path] = {}
    for path in [Path(sys.executable), *(Path(name) for name in named if name), *managed]:
        if (version := version_of(path)) in VERSIONS:
            found.setdefault(version, path)
    return dict(sorted(found.items()))


def version_of(python: Path) -> str:
    """Such as 3.12; "" for a program that does not answer. Version managers leave names without a program."""
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=60)
    return done.stdout.strip() if done.returncode == 0 else ""


def make_environment(python: Path, folder: Path) -> Path:
    """A new environment without any package; gives its interpreter."""
    subprocess.run([python, "-m", "venv", "--without-pip", "--clear", folder], check=True, timeout=300)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def fill_wheelhouse(python: Path, wheel: Path, folder: Path) -> Path:
    """Fetch once, in versions that were tested, all that any extra needs on this Python."""
    environment = make_environment(python, folder / "fetching")
    pins = write_pins(folder / "pins.txt")
    wanted = ["--constraint", str(pins), "--dest", str(folder / "wheels"), f"turnout[all] @ {wheel.as_uri()}"]
    _run_pip(environment, "download", wanted)
    return folder / "wheels"


def install_wheel(environment: Path, wheelhouse: Path, extra: str) -> None:
    """Install turnout with one extra, or none, from what was fetched."""
    named = f"turnout[{extra}]" if extra else "turnout"
    _run_pip(environment, "install", ["--no-index", "--find-links", str(wheelhouse), named])


def _run_pip(environment: Path, command: str, words: list[str]) -> None:
    """The pip of this environment, working for another one, which needs none of its own then."""
    program = [sys.executable, "-m", "pip", "--python", str(environment), command, "--only-binary", ":all:"]
    usual = ["--quiet", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*program, *usual, *words], check=True, timeout=1800)


def write_pins(path: Path) -> Path:
    """The versions of the lock file without hashes, which pip does not take for some packages only."""
    lines = (ROOT / "requirements" / "dev.txt").read_text()
    pins = (f"{pin} ; {marker}" if marker else pin for pin, marker in PIN.findall(lines))
    path.write_text("\n".join(pins) + "\n")
    return path
