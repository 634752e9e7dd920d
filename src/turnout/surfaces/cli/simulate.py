"""`turnout simulate`: every provider on loopback, strict and scripted, without an API key or a network."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from ...simulate.simulation import SimulatedExchange, Simulation

PLACES = (
    ("OPENAI_BASE_URL", "/v1"),
    ("ANTHROPIC_BASE_URL", ""),
    ("GEMINI_BASE_URL", "/v1beta"),
    ("MISTRAL_BASE_URL", "/mistral/v1"),
    ("MOONSHOT_BASE_URL", "/kimi/v1"),
    ("DEEPSEEK_BASE_URL", "/deepseek"),
    ("OPENROUTER_BASE_URL", "/openrouter/api/v1"),
)


@click.command("simulate")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8787,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--script", type=click.File("rb"), help="JSON list of answers, one step for each request.")
@click.option(
    "--model",
    type=click.Choice(["demo"]),
    default="demo",
    show_default=True,
    help="The model that answers without a script.",
)
@click.option(
    "--key", "keys", multiple=True, help="A valid API key, repeatable; without any, every key is valid."
)
def simulate_command(port: int, host: str, script: Any, model: str, keys: tuple[str, ...]) -> None:
    """Simulate every provider on this machine.

    A request that the real provider would refuse is refused, with its status and its message.
    Other requests are answered by the script, or by a small model made of rules that can use
    tools. A path that starts with the name of a provider (/mistral/v1/chat/completions) is
    that provider. Each verdict is printed.

        turnout simulate --port 8787
        OPENAI_BASE_URL=http://127.0.0.1:8787/v1 OPENAI_API_KEY=any turnout
    """
    from ...simulate.model import demo
    from ...simulate.script import read_script
    from ...simulate.server import address, open_socket, serve_forever

    source: Any = read_script(script.read()) if script else demo
    simulation = Simulation(source, keys=keys or None)
    try:
        listening = open_socket(host, port)
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port, or 0"
        ) from None
    place = address(listening)
    click.echo(f"simulating every provider at {place} (Ctrl+C ends)")
    for name, path in PLACES:
        click.echo(f"  {name}={place}{path}")
    with suppress(KeyboardInterrupt):
        serve_forever(simulation, listening, _print_exchange)


def _print_exchange(seen: SimulatedExchange) -> None:
    verdict = f"refused: {seen.problems[0].rule} {seen.problems[0].answer}" if seen.problems else ""
    line = f"{seen.status or 'cut'}  {seen.provider}  {seen.model}  {verdict}"
    click.echo("".join(letter for letter in line if letter.isprintable()).rstrip()[:300])
