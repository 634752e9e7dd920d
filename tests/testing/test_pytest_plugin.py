"""The plugin in real runs of pytest: found by its entry point, and free of charge where it is not used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
HEAD = """
import asyncio
from turnout import Session, UsageError

def ask(prompt="Well?"):
    async def work():
        async with Session("anthropic:claude-sonnet-5", api_key=KEY) as session:
            return (await session.ask(prompt)).text
    return asyncio.run(work())

KEY = None
"""


def run_pytest(folder: Path, text: str, *options: str, alone: bool = True) -> str:
    """The output of pytest over one test file. `alone`: without the other plugins that are installed here."""
    (folder / "test_it.py").write_text(text)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_it.py"]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "150"}
    if alone:
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        words[4:4] = ["-p", "turnout"]  # the name of the entry point
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def test_the_fixture_scripts_a_model_for_code_that_knows_nothing_of_it(tmp_path: Path) -> None:
    """A script, what was sent, and no other request, in one test function each."""
    text = """
def test_script(turnout):
    model = turnout.script(["Fine."])
    assert ask() == "Fine."
    turnout.requests.check(target="anthropic", user="Well?")
    model.check_finished()

def test_forbidden(turnout):
    import pytest
    global KEY
    KEY = "k"
    with pytest.raises(UsageError, match="forbid_requests"):
        ask()

def test_forbidden_by_name(forbid_requests):
    test_forbidden(None)

def test_fails(turnout):
    turnout.script(["Fine."])
    ask()
    turnout.requests.check(user="Hello")
"""
    told = run_pytest(tmp_path, HEAD + text)
    assert "1 failed, 3 passed" in told
    assert "user: expected a text with 'Hello', sent 'Well?'" in told


CASSETTE = """
import sys
from turnout.testing import ScriptedModel

def test_talk(turnout, request):
    with ScriptedModel([ANSWER]):
        cassette = turnout.cassette()
        assert ask() == EXPECTED
"""


def test_a_cassette_is_recorded_once_and_played_after_that(tmp_path: Path) -> None:
    """The file lies beside the test; --turnout-record=all records anew, none refuses to record."""

    def run_with(answer: str, expected: str, *options: str) -> str:
        return run_pytest(
            tmp_path, f"{HEAD}ANSWER, EXPECTED = {answer!r}, {expected!r}\n{CASSETTE}", *options
        )

    place = tmp_path / "cassettes" / "test_it" / "test_talk.json"
    assert "there is no cassette" in run_with("One.", "One.", "--turnout-record=none")
    assert "1 failed" in run_with("One.", "Other.") and not place.exists()
    assert "1 passed" in run_with("One.", "One.") and place.exists()
    assert "1 passed" in run_with("Two.", "Two.", "--turnout-record=all")
    (tmp_path / "pytest.ini").write_text("[pytest]\nturnout_record = none\n")
    assert "1 passed" in run_with("Three.", "Two.")


def test_a_run_that_does_not_use_it_loads_nothing_of_turnout(tmp_path: Path) -> None:
    """Beyond the plugin itself and the package, which is lazy, no module is imported."""
    text = """
import sys

def test_modules():
    found = sorted(name for name in sys.modules if name.partition(".")[0] in ("turnout", "msgspec", "httpx2"))
    assert found == ["turnout", "turnout.pytest_plugin"]
"""
    assert "1 passed" in run_pytest(tmp_path, text, alone=False)


def test_the_plugin_is_switched_off_by_its_name(tmp_path: Path) -> None:
    """`-p no:turnout` is the way of pytest."""
    told = run_pytest(tmp_path, "def test_it(turnout): pass", "-p", "no:turnout", alone=False)
    assert "fixture 'turnout' not found" in told


def test_the_tests_of_the_guide_pass(tmp_path: Path) -> None:
    """The page shows test functions; they run as they stand there, beside other plugins."""
    page = (ROOT / "docs" / "guide" / "testing.md").read_text()
    (block,) = [text for text in page.split("```python\n") if "def test_" in text]
    assert "2 passed" in run_pytest(tmp_path, block.partition("```")[0], alone=False)
