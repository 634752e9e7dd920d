"""/model: the list that it offers, and short names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated
from tests.surfaces.shared.test_first_guide import SILENT, model_list

OPENAI = ("chat", "--plain", "-m", "gpt-4o")


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, lambda asked: f"{asked.provider} heard {asked.user}") as user:
        yield user


def test_the_list_shows_window_price_and_key_and_the_last_used_first(somebody: User) -> None:
    """A model without a key names the variable that is missing."""
    run(somebody, *OPENAI, stdin="one\n/model mistral-large-latest\ntwo\n")
    shown = run(somebody, *OPENAI, stdin="/model\n").out

    first = next(line for line in shown.splitlines() if line.strip().startswith("1 "))
    assert "mistral:mistral-large-latest" in first and "256k" in first and "$2/$6" in first and "key" in first
    assert "openai:gpt-4o" in shown and "current" in shown
    assert shown.count("openai:gpt-4o ") == 1, "a short name is not listed beside the whole one"


def test_a_short_name_switches_and_an_unclear_one_is_told(somebody: User) -> None:
    """`/model kimi/kimi-k2.5` and `/model kimi-k2.5` are the same; `/model sonnet` lists what fits."""
    shown = run(somebody, *OPENAI, stdin="/model kimi/kimi-k2.5\none\n/model sonnet\n/model nonsense\n").out

    assert "kimi heard one" in shown
    assert "'sonnet' fits several models" in shown and "'nonsense' is not a provider" in shown


def test_the_words_for_a_family_follow_the_model(somebody: User) -> None:
    """After a switch the system prompt holds what the new model needs, and the request carries it."""
    run(somebody, "chat", "--plain", "-m", "claude-sonnet-4-5", stdin="one\n/model gpt-5.1\ntwo\n")

    assert somebody.simulation is not None
    first, second = (seen.body.decode() for seen in list(somebody.simulation.exchanges)[-2:])
    assert "Prefer apply_patch" not in first and "Prefer apply_patch" in second


def test_the_models_of_a_server_on_this_machine_are_offered(tmp_path: Path) -> None:
    """Ollama and LM Studio are asked when the list opens; what they have needs no key."""
    with (
        model_list({"models": [{"name": "qwen3:8b"}]}) as ollama,
        model_list({"data": [{"id": "phi-4"}]}) as studio,
        simulated(tmp_path, lambda asked: "heard") as user,
    ):
        places = {**SILENT, "OLLAMA_BASE_URL": ollama, "LMSTUDIO_BASE_URL": f"{studio}/v1"}
        known = User(user.home, user.folder, {**user.environment, **places}, user.simulation)
        shown = run(known, *OPENAI, stdin="/model\n").out
    rows = [line for line in shown.splitlines() if "local" in line]
    assert any("ollama:qwen3:8b" in row for row in rows), shown
    assert any("lmstudio:phi-4" in row for row in rows), shown
