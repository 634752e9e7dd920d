"""The demo's claims, checked: it is the first thing a newcomer runs."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from tests.surfaces.shared.test_extras import run_without

from turnout.surfaces.shared.extras import EXTRA_OF


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the demo prints when piped, with the core and click installed."""
    home = tmp_path_factory.mktemp("demo")
    absent = tuple(package for package in EXTRA_OF if package != "click")
    code, out, err = run_without(absent, ["demo"], home, COLUMNS="120")
    assert code == 0, err
    return out


def rows(text: str) -> dict[str, list[str]]:
    """The table at the end, by provider."""
    lines = text[text.index("\nprovider  ") + 1 :].splitlines()[2:]
    return {line.split()[0]: line.split() for line in lines[: lines.index("")]}


def test_every_provider_accepts_and_a_naive_replay_would_be_refused(shown: str) -> None:
    """No request is refused; the same history as it came breaks a rule of all but Ollama, which has none."""
    table = rows(shown)
    assert set(table) == {
        "azure",
        "bedrock",
        "cohere",
        "ollama",
        "vertex",
        "anthropic",
        "openai",
        "openai-responses",
        "gemini",
        "mistral",
        "kimi",
        "deepseek",
        "openrouter",
    }
    for provider, (_, requests, accepted, refused, failed, *naive) in table.items():
        assert refused == "0" and int(accepted) > 0, provider
        assert int(accepted) + int(failed) == int(requests), provider
        if provider != "ollama":
            assert naive[0] == "400" and re.fullmatch(r"[A-Z]{3}-\d\d", naive[1]), provider
    assert f"{len(table) - 1} of {len(table)} would have refused it" in shown


def test_it_is_over_in_fifteen_seconds(shown: str) -> None:
    """Also on a machine that is busy with something else."""
    found = re.search(r"would have refused it\. ([\d.]+) s\.", shown)
    assert found is not None and float(found[1]) < 15


def test_another_provider_answers_at_every_turn(shown: str) -> None:
    """The headings of the steps: never the same provider twice in a row, and every family."""
    steps = re.findall(r"^([a-z-]+):[\w./:-]+$", shown, re.MULTILINE)
    assert len(steps) >= 14 and all(one != other for one, other in pairwise(steps))
    assert {"anthropic", "openai", "openai-responses", "gemini", "mistral"} <= set(steps)
    assert {"bedrock", "cohere", "ollama"} <= set(steps)


@pytest.mark.parametrize(
    "claim",
    [
        "3 in parallel: list_directory, read_file, codebase_overview",
        "shell: denied",
        "slow_index: cancelled, made up by turnout",
        "crash_here: interrupted, made up by turnout",
        "edit_file: Edited tape.py",
        "switched: overloaded at gemini:gemini-3.8-flash -> openrouter",
    ],
)
def test_everything_that_goes_wrong_is_shown(shown: str, claim: str) -> None:
    """Parallel tools, a denial, a cancellation, a crash, an edit and a failover really happened."""
    assert claim in shown


def test_piped_output_is_plain(shown: str) -> None:
    """No escape sequences when nobody looks at a terminal."""
    assert "\x1b" not in shown
