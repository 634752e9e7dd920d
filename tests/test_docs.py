"""The documentation runs: every Python block of the README and the guide, against scripted providers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.runtime.talk import KEYS

from turnout.runtime import transport
from turnout.simulate import ScriptedTransport

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    return [
        (f"{page.relative_to(ROOT)}:{page.read_text()[: found.start()].count(chr(10)) + 1}", found.group(1))
        for page in PAGES
        for found in BLOCK.finditer(page.read_text())
    ]


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
    monkeypatch.setattr(transport, "HttpTransport", Anyone)
    exec(compile(code, place, "exec"), {"__name__": "__main__"})


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link and every file named in backticks below docs/ or src/ exists."""
    for page in PAGES:
        text = page.read_text()
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
        for target in re.findall(r"`((?:docs|src|tests)/[\w./-]+)`", text):
            assert (ROOT / target).exists() or "<" in target, f"{page.name}: {target}"
