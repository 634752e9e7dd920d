"""What must work with each extra, in an environment that has nothing else. Each is a program of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

IMPORT_ALL = """
import importlib, pkgutil
def import_all(name):
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), name + "."):
        if not found.name.endswith(("__main__", "pytest_plugin")):
            importlib.import_module(found.name)
"""
"""Imports every module of a package; the plugin is loaded by pytest alone, which no extra brings."""

SESSION = """
from turnout import Session
from turnout.simulate import Simulation
from turnout.simulate.server import running_server
with running_server(Simulation(["Hello."])) as address:
    session = Session("openai:gpt-5.1", base_url=address + "/v1", api_key="sk-of-nobody")
    assert session.ask_sync("Hi").text == "Hello."
"""
PAGES = """
from turnout.surfaces.pages import drawing
import jinja2, pathlib
templates = sorted((pathlib.Path(drawing.__file__).parent / "templates").glob("*.html"))
assert templates
for path in templates:
    jinja2.Environment().parse(path.read_text())
"""

SMOKE = {
    "": "import turnout\nfor name in turnout.__all__: getattr(turnout, name)",
    "tools": "from turnout.tools.policy import shell_words\nimport tree_sitter, tree_sitter_bash\n"
    "tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())).parse(b'ls')",
    "terminal": "import subprocess, sys, pathlib\n"
    "program = pathlib.Path(sys.executable).with_name('turnout')\n"
    "for words in (['--version'], ['--help'], ['models', '--help']):\n"
    "    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)",
    "simulate": SESSION,
    "gateway": IMPORT_ALL
    + "import_all('turnout.surfaces.gateway')\nimport_all('turnout.surfaces.pages')"
    + PAGES,
    "mcp": IMPORT_ALL + "import_all('turnout.tools.mcp')\nimport mcp",
    "otel": "import turnout\nturnout.OpenTelemetry()",
    "vertex": IMPORT_ALL + "import_all('turnout.world')\nimport google.auth",
    "bedrock": IMPORT_ALL + "import_all('turnout.world')\nimport botocore.session",
    "postgres": IMPORT_ALL + "import_all('turnout.store')",
    "dbos": IMPORT_ALL + "import_all('turnout.workers')\nimport dbos",
    "keyring": "import keyring\nfrom turnout.world import system_keyring",
    "all": IMPORT_ALL + "import_all('turnout')" + SESSION,
}
"""Extra -> a program that fails where the extra lacks something. "" is turnout alone."""


def try_extra(environment: Path, extra: str, folder: Path) -> str:
    """What went wrong with an extra; "" if nothing did."""
    home = {"HOME": str(folder), "PATH": str(environment.parent)}
    program = [environment, "-I", "-W", "error::SyntaxWarning", "-c", SMOKE[extra]]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300, cwd=folder, env=home)
    return "" if done.returncode == 0 else done.stderr
