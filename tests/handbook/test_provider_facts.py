"""The facts of providers, as their pages show them."""

from __future__ import annotations

import pytest
from handbook.provider_facts import facts_table, page_of, provider_table
from handbook.site_pages import DOCS

from turnout.providers import PROVIDERS


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_variable_that_is_looked_at_is_named(name: str) -> None:
    """Key, address and the words of the address: whatever a user may set is in the table."""
    provider, table = PROVIDERS[name], facts_table(name)
    variables = [*provider.key_variables, provider.base_url_variable]
    variables += [variable for blank in provider.blanks for variable in blank.variables]
    variables += [key for changes in provider.variants.values() for key in changes.get("key_variables", ())]
    assert [variable for variable in variables if f"`{variable}`" not in table] == []


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_endpoint_is_named_with_what_differs(name: str) -> None:
    """`provider@endpoint:MODEL` stands with its own API, key or address."""
    for endpoint in PROVIDERS[name].variants:
        row = next(line for line in facts_table(name).splitlines() if f"`{name}@{endpoint}:MODEL`" in line)
        assert row.count("|") == 3 and row.split("|")[2].strip()


def test_models_with_another_api_are_named() -> None:
    """Claude on Vertex is spoken to in Anthropic's API, newer models at Copilot in Responses."""
    assert "Anthropic's Messages for `claude*`" in facts_table("vertex")
    assert "Responses for `gpt-[5-9]*`" in facts_table("copilot")


def test_the_table_of_all_leads_to_a_page_for_each() -> None:
    """No provider is without a page."""
    for name in PROVIDERS:
        assert f"[`{name}`]({page_of(name)})" in provider_table()
        assert (DOCS / "providers" / page_of(name)).exists()
