"""`turnout models`: the known models, what they can do, and what they cost."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from ...model import Origin
from ...providers.catalogue import ModelRow, end_date, limit_row, load_catalogue
from ...providers.models import MODELS
from ...providers.prices import price
from ...wire.request import ModelFacts
from ...world.keys import Keys
from ...world.ollama_models import list_models
from ...world.shared_http import SharedHttp
from ..shared.open_session import SessionArguments, configuration
from .output import json_text, table

MOST = 60
"""Rows of the catalogue that are printed."""


@click.command("models")
@click.argument("words", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def models_command(words: tuple[str, ...], as_json: bool) -> None:
    """List the targets you can use now, and the models that turnout knows.

    WORDS filter the list, and show single models with their prices and end dates. A model that is
    not listed can be used too: it gets the facts of the family that is its longest prefix.

    \b
    Examples:
      turnout models claude
      turnout -m openrouter:moonshotai/kimi-k2
    """
    known = {name: facts for name, facts in MODELS.items() if all(word.lower() in name for word in words)}
    targets = [
        name
        for name in configuration(SessionArguments()).targets()
        if all(word.lower() in name for word in words)
    ]
    found = asyncio.run(_ollama_models())
    targets += [name for name in found if name not in targets and all(word.lower() in name for word in words)]
    if as_json:
        listed = {name: _model_json(name, facts) for name, facts in known.items()}
        click.echo(json_text({"targets": targets, "models": listed}))
        return
    for name in targets:
        click.echo(f"ready: {name}")
    if targets:
        click.echo()
    rows = [_row(name, facts) for name, facts in known.items()]
    click.echo(table(("family", "context", "output", "thinking", "$ in/out per million"), rows))
    if words:
        _show_listed(words)


def _show_listed(words: tuple[str, ...]) -> None:
    """The models of the catalogue whose names hold these words."""
    listed = [
        (f"{provider}:{model}", row, end_date(provider, model))
        for provider, rows in load_catalogue().models.items()
        for model, row in rows.items()
        if all(word.lower() in f"{provider}:{model}" for word in words)
    ]
    rows = [
        (name, _thousands(row.context), *_limits(name), _dollars(row), end)
        for name, row, end in listed[:MOST]
    ]
    if rows:
        head = ("listed", "context", "output", "reads", "$ in/out per million", "ends")
        click.echo("\n" + table(head, rows))
    if len(listed) > MOST:
        click.echo(f"… and {len(listed) - MOST} more: give more words")


def _limits(name: str) -> tuple[str, str]:
    """The listed limit of an answer, and the kinds of media that are listed as read."""
    provider, _, model = name.partition(":")
    row = limit_row(provider, model)[1]
    kinds = (kind for kind in ("image", "pdf", "audio", "video") if getattr(row, kind))
    return _thousands(row.output), ", ".join(kinds)


def _thousands(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _dollars(row: ModelRow) -> str:
    return "" if row.input is None or row.output is None else f"{row.input:g} / {row.output:g}"


async def _ollama_models() -> list[str]:
    """The models of the Ollama server of this machine, as targets."""
    config = configuration(SessionArguments())
    place = config.target("ollama:any")
    keys = await Keys(config.environment, config.keys()).headers(place, required=False)
    return [f"ollama:{name}" for name in await list_models(place.provider.base_url, SharedHttp(), keys)]


def _row(name: str, facts: ModelFacts) -> tuple[str, ...]:
    cost = price(Origin("", "", name))
    dollars = f"{cost.input:g} / {cost.output:g}" if cost else ""
    return name, f"{facts.context:,}", f"{facts.output:,}", ", ".join(facts.thinking), dollars


def _model_json(name: str, facts: ModelFacts) -> dict[str, Any]:
    cost = price(Origin("", "", name))
    return {
        "context": facts.context,
        "output": facts.output,
        "thinking": list(facts.thinking),
        "efforts": list(facts.efforts),
        "price": None if cost is None else {"input": cost.input, "output": cost.output},
    }
