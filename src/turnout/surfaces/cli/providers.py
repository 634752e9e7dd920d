"""`turnout providers`: which API keys are set, and whether they work."""

from __future__ import annotations

import asyncio
import time

import click
from msgspec import Struct

from ...errors import TurnoutError, UsageError
from ...model import Origin
from ...plain import dumps
from ...providers import PROVIDERS, Provider
from ...providers import find_provider as provider
from ...session.limits import Limits, Timeouts
from ...session.session import Session
from ...wire.shared.redaction import redact_keys
from ...world.config import DEFAULT_MODELS, Config
from ...world.learned_steps import LearnedStep
from ...world.world import World
from ..shared.clean_text import json_line, one_line
from ..shared.open_session import SessionArguments, configuration
from . import exit_codes as exits
from .output import json_text, table

PATIENCE = 30.0
QUESTION = "Reply with the single word: ready"


class ProviderLine(Struct, frozen=True):
    """One provider, as this machine can use it."""

    name: str
    key: str
    address: str
    model: str
    checked: str = ""
    works: bool | None = None
    learned: tuple[LearnedStep, ...] = ()  # what it is asked without, since it refused it


@click.command("providers")
@click.argument("names", nargs=-1)
@click.option("--check", is_flag=True, help="Send one small request to each provider that has a key.")
@click.option("-m", "--model", default="", help="With --check and one NAME: send the request to this model.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--forget", default="", help="Forget what sessions learned of this target from refusals.")
@click.pass_context
def providers_command(
    ctx: click.Context, /, names: tuple[str, ...], check: bool, model: str, as_json: bool, forget: str
) -> None:
    """Show every provider: the variable of its API key or its stored account, and its address.

    With --check a request of a few tokens is sent, and the result says what to do.
    The exit code is 3 if a provider failed.

    \b
    Examples:
      turnout providers
      turnout providers --check anthropic mistral
    """
    if model and len(names) != 1:
        raise UsageError("-m is a model of one provider; give exactly one NAME with it")
    config = configuration(SessionArguments())
    if forget:
        _forget_steps(config, forget)
        return
    chosen = [provider(name) for name in names] or list(PROVIDERS.values())
    lines = [_provider_line(config, each, model) for each in chosen]
    if check:
        lines = asyncio.run(_try_providers(config, lines, named=bool(names)))
    if as_json:
        click.echo(json_text(lines))
    else:
        rows = [(line.name, line.key, line.address, line.checked or line.model) for line in lines]
        head = ("provider", "key", "address", "answer" if check else "model without -m")
        click.echo(table(head, rows))
        for kept in (kept for line in lines for kept in line.learned):
            why = one_line(redact_keys(kept.why), 120)
            click.echo(
                f"learned: {kept.target} is asked with {kept.step!r} until {kept.until} (it refused: {why})"
            )
        _print_named_targets(config, names)
    ctx.exit(exits.CONFIGURATION if any(line.works is False for line in lines) else exits.OK)


def _provider_line(config: Config, each: Provider, model: str) -> ProviderLine:
    if each.auth == "none" or not each.key_variables:
        key = "not needed"
    else:
        key = config.key_source(each.name) or f"{' or '.join(each.key_variables)} is not set"
    variable = each.base_url_variable
    address = (config.environment.get(variable, "") if variable else "") or each.base_url
    kept = config.learned_steps.all_steps()
    learned = tuple(step for step in kept if Origin.parse(step.target).provider == each.name)
    usual = model or DEFAULT_MODELS.get(each.name, "")
    return ProviderLine(each.name, key, redact_keys(address), usual, learned=learned)


def _print_named_targets(config: Config, names: tuple[str, ...]) -> None:
    """What the configuration says of servers of the user: their dialect, as `turnout probe` found it."""
    for name, named in config.settings.targets.items():
        at = Origin.parse(named.target).provider
        found = {**named.dialect, **({"without": list(named.without)} if named.without else {})}
        if found and (not names or at in names):
            click.echo(
                f"configured: {name} ({named.target}) differs in {one_line(json_line(dumps(found)), 300)}"
            )


def _forget_steps(config: Config, target: str) -> None:
    if not config.learned_steps.forget(target):
        known = ", ".join(dict.fromkeys(kept.target for kept in config.learned_steps.all_steps())) or "none"
        raise UsageError(f"nothing was learned of {target!r}; known are: {known}")
    click.echo(f"forgot what was learned of {target}")


async def _try_providers(config: Config, lines: list[ProviderLine], named: bool) -> list[ProviderLine]:
    return list(await asyncio.gather(*(_try_provider(config, line, named) for line in lines)))


async def _try_provider(config: Config, line: ProviderLine, named: bool) -> ProviderLine:
    if not named and not config.has_key(line.name):
        return line
    if not line.model:
        return _with_verdict(line, "not tested: give a model with -m", None)
    began = time.monotonic()
    try:
        async with _session(config, f"{line.name}:{line.model}") as session:
            answer = await session.ask(QUESTION, max_tokens=1024)
    except TurnoutError as error:
        return _with_verdict(line, f"failed: {one_line(redact_keys(str(error)))}", False)
    took = time.monotonic() - began
    return _with_verdict(
        line, f"works: {line.model} said {one_line(answer.text, 40)!r} in {took:.1f} s", True
    )


def _session(config: Config, name: str) -> Session:
    patience = Timeouts(PATIENCE, PATIENCE, PATIENCE)
    return Session(
        config.target(name),
        limits=Limits(retries=0, timeouts=patience),
        world=World(environment=config.environment, keys=config.keys()),
    )


def _with_verdict(line: ProviderLine, checked: str, works: bool | None) -> ProviderLine:
    return ProviderLine(line.name, line.key, line.address, line.model, checked, works, line.learned)
