"""The catalogue: windows, prices and ends as the packages and the makers say, and nothing that is unknown."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import pytest

from turnout.model import Origin
from turnout.providers import PROVIDERS
from turnout.providers.catalogue import (
    LimitRow,
    context_window,
    end_date,
    limit_row,
    load_catalogue,
    model_row,
)
from turnout.providers.known_facts import OVERRIDES, known_facts, set_facts
from turnout.providers.models import facts
from turnout.world.config import DEFAULT_MODELS

ROOT = Path(__file__).parent.parent.parent


def test_the_catalogue_is_what_its_sources_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make catalogue` on the day that the file names would write the same prices, windows and ends again."""
    pytest.importorskip("genai_prices", reason="genai-prices is not installed")
    monkeypatch.syspath_prepend(str(ROOT))
    from catalogue.__main__ import MADE, ends, models

    made = json.loads(MADE.read_text())
    assert models(date.fromisoformat(made["made"])) == made["models"]
    assert ends() == made["ends"]


def test_the_limits_are_what_their_sources_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the packages of `make bench` are installed, the whole file is made again and compared."""
    pytest.importorskip("langchain_anthropic", reason="langchain is not installed")
    monkeypatch.syspath_prepend(str(ROOT))
    from catalogue.__main__ import MADE, catalogue, catalogue_text

    text = MADE.read_text()
    assert catalogue_text(catalogue(date.fromisoformat(json.loads(text)["made"]))) == text


def test_every_limit_by_hand_is_in_the_catalogue() -> None:
    """What was read in documentation comes before what another program lists."""
    import tomllib

    for row in tomllib.loads((ROOT / "catalogue" / "by_hand.toml").read_text())["limits"]:
        for model in row["models"]:
            _, listed = limit_row(row["provider"], model)
            assert row.get("tokens") in (None, listed.output) and row.get("image") in (None, listed.image)


def test_output_limits_and_modalities_are_the_catalogues() -> None:
    """A single model may answer at greater length, or read less, than its family."""
    longer = known_facts(Origin("anthropic", "", "claude-sonnet-4-6"))
    blind = known_facts(Origin("mistral", "", "magistral-medium-latest"))

    assert longer.output == 128_000 > facts("claude-sonnet-4-6").output
    assert "image/png" in facts("magistral-medium-latest").media and blind.media == ()


def test_a_wider_family_does_not_hide_a_narrower_one() -> None:
    """gpt-5-chat answers at less length than gpt-5, also where only gpt-5 is listed."""
    assert limit_row("openai", "gpt-5-chat-unheard")[0] in ("gpt-5", "gpt-5-chat")
    assert known_facts(Origin("openai", "", "gpt-5-chat-unheard")).output == 16_384
    assert known_facts(Origin("kimi", "", "kimi-k2-0905-preview")).media == ()


def test_a_local_server_has_no_makers_limit() -> None:
    """What the maker's API allows in one answer says nothing of the same weights on a desk."""
    assert limit_row("vllm", "mistral-small-latest") == ("", LimitRow())
    assert limit_row("mistral", "mistral-small-latest")[0]


def test_every_fact_by_hand_has_its_source_and_date() -> None:
    """Who reads a row can look it up."""
    import tomllib

    for rows in tomllib.loads((ROOT / "catalogue" / "by_hand.toml").read_text()).values():
        for row in rows:
            assert row["source"] and isinstance(row["read"], date) and row["models"], row


def test_prices_agree_with_the_package_for_many_models() -> None:
    """Each listed model costs what genai-prices computes for it, at every provider of ours."""
    genai = pytest.importorskip("genai_prices", reason="genai-prices is not installed")
    from turnout.model import Usage
    from turnout.providers.prices import price

    usage = genai.Usage(input_tokens=1_000, output_tokens=500)
    day = datetime.fromisoformat(load_catalogue().made + "T12:00:00+00:00")
    names = {
        "anthropic": "anthropic",
        "openai": "openai",
        "gemini": "google",
        "xai": "x-ai",
        "kimi": "moonshotai",
    }
    compared = 0
    for ours, theirs in names.items():
        for model, row in load_catalogue().models[ours].items():
            found = price(Origin(ours, "", model))
            try:
                expected = genai.calc_price(usage, model, provider_id=theirs, genai_request_timestamp=day)
            except LookupError:
                continue  # a spelling of ours
            if found is None or row.input is None:
                continue
            cost = found.of(Usage(input=1_000, output=500))
            assert cost == pytest.approx(float(expected.total_price), rel=1e-6), (ours, model)
            compared += 1
    assert compared > 200


def test_what_is_unknown_stays_unknown() -> None:
    """No window and no end is guessed for a name that nothing is known about."""
    assert model_row("openai", "some-new-model") is None
    assert context_window("openai", "some-new-model") is None and end_date("openai", "some-new-model") == ""
    assert not known_facts(Origin("openai", "", "some-new-model")).known


def test_a_listed_name_is_not_found_inside_a_word() -> None:
    """`gpt-4` is not the family of `gpt-4x`: a letter that follows makes another name."""
    assert model_row("openai", "gpt-4x") is None
    assert model_row("openai", "gpt-5.2-2026-01-01") == model_row("openai", "gpt-5.2")


def test_the_window_is_the_catalogues() -> None:
    """The family says how a model thinks; the catalogue says how much it reads."""
    found = known_facts(Origin("anthropic", "", "claude-sonnet-5"))
    assert found.context == 1_000_000 and found.thinking == facts("claude-sonnet-5").thinking


def test_a_later_model_of_a_family_has_the_familys_facts() -> None:
    """A model that came out after this version thinks and answers as its family does."""
    for name, like in {"gpt-7-nova": "gpt-5.6", "claude-sonnet-7": "claude-sonnet-5"}.items():
        assert facts(name).known
        assert facts(name).thinking == facts(like).thinking and facts(name).output == facts(like).output


def test_ends_are_the_makers_own() -> None:
    """A host that serves the same model has its own dates, which are unknown."""
    assert end_date("anthropic", "claude-sonnet-4-5") == "2026-11-30"
    assert end_date("anthropic", "claude-sonnet-4-5-20250929") == "2026-11-30"
    assert end_date("openai-responses", "gpt-5.1") == "2027-04-01"
    assert end_date("openrouter", "anthropic/claude-sonnet-4.5") == ""
    assert end_date("openai", "gpt-5.1-mini-of-ours") == ""


def test_bedrock_charges_more_for_a_region() -> None:
    """The prefix of the model's id says which price counts."""
    world = model_row("bedrock", "global.anthropic.claude-sonnet-5-5")
    region = model_row("bedrock", "eu.anthropic.claude-sonnet-5-5")
    assert world is not None and region is not None and world.input is not None
    assert region.input == pytest.approx(world.input * 1.1)


@pytest.mark.parametrize("provider", DEFAULT_MODELS)
def test_defaults_are_current(provider: str) -> None:
    """A provider without a model gets one that has no announced end, and a price where one is listed."""
    model = DEFAULT_MODELS[provider]
    assert end_date(provider, model) == "" and provider in PROVIDERS
    assert known_facts(Origin(provider, "", model)).known


def test_users_can_set_the_facts_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server of their own really has counts for that provider only."""
    monkeypatch.setattr("turnout.providers.known_facts.OVERRIDES", dict(OVERRIDES))
    set_facts("ollama", "qwen3", context=32_768)
    assert known_facts(Origin("ollama", "", "qwen3:8b")).context == 32_768
    assert known_facts(Origin("vllm", "", "qwen3")).context != 32_768


def test_an_import_does_not_read_the_catalogue() -> None:
    """`import turnout` stays light; the file is read for the first target."""
    check = "import sys, turnout; turnout.Session; print('turnout.providers.catalogue' in sys.modules)\n"
    check += "from turnout.providers import catalogue; print(catalogue.load_catalogue.cache_info().currsize)"
    done = subprocess.run((sys.executable, "-c", check), capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == "0"


DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *(page for page in DOCS if "decisions" not in page.parts)]


def test_pages_name_no_model_that_has_an_announced_end() -> None:
    """Who copies an example gets a model that still answers next year."""
    ending = {model for ends in load_catalogue().ends.values() for model in ends if re.search(r"\d", model)}
    names = "|".join(sorted(map(re.escape, ending), key=len, reverse=True))
    named = re.compile(rf"(?<![\w.-])(?:{names})(?![\w.-])")
    found = [
        f"{page.relative_to(ROOT)}:{number}: {line.strip()}"
        for page in PAGES
        if page.name != "measured.md"  # what was measured then stays
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if named.search(line)
    ]
    assert not found, "\n".join(found)
