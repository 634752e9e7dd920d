"""`turnout providers`: API keys and whether they work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated

from turnout.simulate import HttpError
from turnout.simulate.model import demo
from turnout.world.config import load_config


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


def test_providers_and_their_keys(somebody: User) -> None:
    """Which API keys are set, and which of them work."""
    out = run(somebody, "providers").out

    assert "OPENAI_API_KEY is set" in out and "XAI_API_KEY is not set" in out
    checked = json.loads(run(somebody, "providers", "--check", "--json").out)
    works = {line["name"] for line in checked if line["works"]}
    assert {"openai", "openai-responses", "anthropic", "gemini", "mistral", "kimi", "deepseek"} <= works


def test_a_provider_that_does_not_work_is_told_and_ends_with_3(tmp_path: Path) -> None:
    """One failed provider makes the exit code 3; -m without one provider is a usage error."""
    script = {"openai": [HttpError("auth", message="no")] * 3, "anthropic": ["ready"]}
    with simulated(tmp_path, script) as somebody:
        ran = run(somebody, "providers", "--check", "openai", "anthropic")

    assert ran.code == 3 and "failed: " in ran.out and "works: " in ran.out
    assert run(somebody, "providers", "--check", "-m", "x").code == 2


def test_what_sessions_learned_is_shown_and_forgotten(somebody: User) -> None:
    """A target, the step, and why; `--forget` ends it, and names what there is where it finds nothing."""
    learned = load_config(somebody.environment, Path(".")).learned_steps
    learned.keep("openai:gpt-5.1", "drop reasoning", "no thinking here")
    (kept,) = learned.all_steps()
    words = f"openai:gpt-5.1 is asked with 'drop reasoning' until {kept.until} (it refused: no thinking here)"
    assert words in run(somebody, "providers").out
    assert run(somebody, "providers", "--forget", "openai:gpt-5.1").code == 0
    assert "learned:" not in run(somebody, "providers").out
    assert run(somebody, "providers", "--forget", "openai:gpt-5.1").code == 2


def test_what_a_probe_found_is_shown_with_the_providers(somebody: User) -> None:
    """A server of the user: its name in the configuration, and how it differs."""
    config = somebody.home / ".config" / "turnout" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(
        '[targets.desk]\ntarget = "compatible:m"\nbase_url = "http://127.0.0.1:9/v1"\n'
        'without = ["reasoning"]\n[targets.desk.dialect]\nsystem_role = "system"\n'
    )

    shown = run(somebody, "providers").out

    assert "configured: desk (compatible:m) differs in" in shown and "system_role" in shown
    assert "reasoning" in shown and "configured:" not in run(somebody, "providers", "openai").out
