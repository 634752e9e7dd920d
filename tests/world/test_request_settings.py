"""What files and the command line add to requests: checked when it is read, and sent as it is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated, user

from turnout.errors import UsageError
from turnout.providers.known_facts import OVERRIDES
from turnout.simulate.model import demo
from turnout.world.config import load_config
from turnout.world.request_settings import parse_options


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as made:
        yield made


@pytest.fixture(autouse=True)
def restored_facts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("turnout.providers.known_facts.OVERRIDES", dict(OVERRIDES))
    yield


def write_config(made: User, text: str) -> None:
    place = made.home / ".config" / "turnout" / "config.toml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def test_options_of_the_command_line_are_json_or_text() -> None:
    """Numbers, lists and switches are read; a misspelt name is told with the nearest one."""
    words = ["temperature=0.2", "stop=END", "cache-ttl=1h", "parallel=false", 'metadata={"a":"b"}']
    read = parse_options(words)
    assert read == {
        "temperature": 0.2,
        "stop": "END",
        "cache_ttl": "1h",
        "parallel": False,
        "metadata": {"a": "b"},
    }
    for wrong, said in {
        "temprature=1": "temperature",
        "temperature": "NAME=VALUE",
        "top_p=7": "0 to 1",
    }.items():
        with pytest.raises(UsageError, match=said):
            parse_options([wrong])


def test_a_model_of_the_file_has_its_own_facts_headers_and_options(somebody: User) -> None:
    """`[models."PROVIDER:MODEL"]` counts for names that begin so, at that provider."""
    write_config(
        somebody,
        """
        [models."ollama:qwen3"]
        context = 32768
        price = { input = 1.0, output = 2.0 }
        headers = { "X-Team" = "search" }
        query = { v = "1" }
        extra = { keep_alive = "5m" }
        options = { temperature = 0.1 }
        """,
    )
    config = load_config(somebody.environment, somebody.folder)
    config.set_facts()
    target = config.target("ollama:qwen3:8b")
    assert target.facts.context == 32_768 and target.headers == {"x-team": "search"}
    assert target.query == {"v": "1"}
    assert target.options == {"temperature": 0.1, "extra": {"keep_alive": "5m"}}
    assert config.target("ollama:llama3").headers == {}


def test_a_named_target_comes_after_its_model(somebody: User) -> None:
    """What is said of one target is closer than what is said of a model."""
    write_config(
        somebody,
        """
        [models."openai:gpt-5.2"]
        headers = { "X-Team" = "all", "X-Model" = "m" }
        [targets.work]
        target = "openai:gpt-5.2"
        headers = { "X-Team" = "work" }
        """,
    )
    found = load_config(somebody.environment, somebody.folder).target("work")
    assert found.headers == {"x-team": "work", "x-model": "m"}


@pytest.mark.parametrize(
    "line",
    ['headers = { Authorization = "Bearer x" }', "options = { temprature = 1 }", 'query = { key = "x" }'],
)
def test_a_setting_that_cannot_be_is_named_with_its_place(tmp_path: Path, line: str) -> None:
    """Keys and misspelt options end the command with the title of the table."""
    made = user(tmp_path)
    write_config(made, f'[models."openai:gpt-5.2"]\n{line}\n')
    done = run(made, "run", "-p", "hi", "-m", "openai:gpt-5.2")
    assert done.code == 2 and '[models."openai:gpt-5.2"]' in done.err
