"""The documentation runs: every Python block of the README and the guide, against scripted providers."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.session.talk import KEYS

from turnout.simulate import Call, ScriptedTransport, SimulatedRequest, Simulation
from turnout.simulate.server import running_server
from turnout.world import shared_http

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    return [
        (f"{page.relative_to(ROOT)}:{page.read_text()[: found.start()].count(chr(10)) + 1}", found.group(1))
        for page in PAGES
        for found in BLOCK.finditer(page.read_text())
    ]


SDK_PAGES = ("own-loop.md",)
ADDRESSES = {
    "OPENAI_BASE_URL": "/v1",
    "ANTHROPIC_BASE_URL": "",
    "GOOGLE_GEMINI_BASE_URL": "",
}
"""Where the SDKs look for the address of their server, and what they expect there."""


class Anyone(ScriptedTransport):
    """Whoever is asked answers, as strictly as the real one."""

    def __init__(self) -> None:
        super().__init__(lambda asked: "I hear you.")

    async def close(self) -> None:
        assert list(self.refusals) == []


@pytest.mark.parametrize(("place", "code"), blocks(), ids=lambda value: value if ".md" in value else "")
def test_examples_run(place: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page tells people to write works as it stands."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    monkeypatch.setattr(shared_http, "_shared", Anyone())
    page = place.partition(":")[0].rpartition("/")[2]
    with running_server(Simulation(answer_sdk)) if page in SDK_PAGES else nullcontext("") as address:
        for name, path in ADDRESSES.items() if address else ():
            monkeypatch.setenv(name, address + path)
        exec(compile(code, place, "exec"), {"__name__": "__main__"})


def answer_sdk(asked: SimulatedRequest) -> object:
    """One call where a tool is offered and the user has just spoken, else a sentence."""
    last = (asked.body.get("messages") or [{}])[-1]
    wants_tool = asked.body.get("tools") and last.get("role") == "user"
    return [Call("read", {})] if wants_tool else "I hear you."


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_import_only_what_their_page_tells_to_install(page: Path) -> None:
    """turnout with the extras that the page names, and what comes with them."""
    text = page.read_text()
    named = {
        name for extras in re.findall(r"pip install '\.\[([\w,]+)\]'", text) for name in extras.split(",")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = project["dependencies"] + [
        each for name in named for each in project["optional-dependencies"][name]
    ]
    for packages in re.findall(r"`pip install ([a-z -]+)`", text):
        asked += packages.split()
    there = {"turnout"} | modules_of([Requirement(each) for each in asked])
    for block in BLOCK.findall(text):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                inside = f"{module}.{node.names[0].name}"  # `from google import genai`
                found = is_importable(module or "", there) or inside in there
                assert found, f"{page.name}: {module}"


def is_importable(module: str, there: set[str]) -> bool:
    parts = module.split(".")
    return parts[0] in sys.stdlib_module_names or any(
        ".".join(parts[:end]) in there for end in range(1, len(parts) + 1)
    )


def modules_of(requirements: list[Requirement]) -> set[str]:
    """The modules that installing these brings: of all distributions that they need, by the files in them."""
    seen: set[str] = set()
    while requirements:
        wanted = requirements.pop()
        if wanted.name not in seen and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            seen.add(wanted.name)
            requirements += [Requirement(each) for each in metadata.requires(wanted.name) or ()]
    files = [file for name in seen for file in metadata.files(name) or () if file.suffix in (".py", ".so")]
    return {".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files}


def test_no_page_tells_to_install_from_an_index() -> None:
    """turnout is not in one yet, and whatever is there under its name is another's."""
    for page in PAGES:
        assert not re.search(r"install '?turnout", page.read_text()), page.name


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link and every file named in backticks below docs/ or src/ exists."""
    for page in PAGES:
        text = page.read_text()
        linked = re.findall(r"\]\((?!http)([^)#]+)\)", text)
        for target in [*linked, *re.findall(r' (?:src|srcset)="(?!http)([^"]+)"', text)]:
            assert (page.parent / target).exists(), f"{page.name}: {target}"
        for target in re.findall(r"`((?:docs|src|tests)/[\w./-]+)`", text):
            assert (ROOT / target).exists() or "<" in target, f"{page.name}: {target}"
