"""The parts of the docs that are made from code."""

from __future__ import annotations

from pathlib import Path

import pytest
from handbook.made_blocks import blocks_in, made_files, with_blocks_made
from handbook.site_pages import DOCS, ROOT

from turnout.providers import PROVIDERS
from turnout.surfaces.gateway.clients import CLIENTS

MADE = list(made_files())


@pytest.mark.parametrize(
    ("path", "text"), MADE, ids=lambda value: value.name if isinstance(value, Path) else ""
)
def test_what_is_made_is_up_to_date(path: Path, text: str) -> None:
    """Tables, setups and pictures say what the code says now."""
    assert path.read_text() == text, f"{path.name} is out of date: run `python -m handbook`"


def test_every_provider_has_its_facts_on_one_page() -> None:
    """A new provider comes with a page in docs/providers that has `<!-- made: provider NAME -->`."""
    found = [
        name for page in DOCS.glob("providers/*.md") for kind, name in blocks_in(page) if kind == "provider"
    ]
    assert sorted(found) == sorted(PROVIDERS)


def test_every_client_of_the_gateway_is_shown() -> None:
    """The page has what `turnout serve --for CLIENT` prints for each client that it knows."""
    assert [name for _, name in blocks_in(DOCS / "guide" / "gateway-clients.md")] == list(CLIENTS)


def test_the_readme_counts_providers_and_clients_right() -> None:
    """The first numbers that people read are those of the code."""
    words = ("six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"whichever of {len(PROVIDERS)} [providers]" in text
    assert f"[{words[len(CLIENTS) - 6]} kinds of clients]" in text


def test_a_block_is_written_anew_and_the_rest_is_kept() -> None:
    """Whatever stood between the two comments is replaced."""
    page = "before\n<!-- made: provider kimi -->\nold words\n<!-- end -->\nafter\n"
    made = with_blocks_made(page)
    assert "old words" not in made and "`MOONSHOT_API_KEY`" in made
    assert made.startswith("before\n") and made.endswith("<!-- end -->\nafter\n")
    assert with_blocks_made(made) == made
