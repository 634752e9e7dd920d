"""`turnout probe`: find out how to speak to an unknown server, and write it down."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import click
import msgspec

from ...errors import TurnoutError, UsageError
from ...targets.probe import MOST_REQUESTS, ProbeAnswer, ProbeFinding, ProbeRequest, ServerProbe
from ...targets.target import Target, find_target
from ...wire.shared.redaction import redact_keys
from ...world.config import Config
from ...world.keys import Keys, account_name
from ...world.ports import Outgoing, Transport
from ...world.shared_http import SharedHttp
from ...world.written_targets import add_target, expect_free_name, target_table
from ..shared.clean_text import one_line
from ..shared.open_session import SessionArguments, configuration
from . import exit_codes as exits

PATIENCE = 60.0


@click.command("probe")
@click.argument("url")
@click.option("-m", "--model", default="", help="The model to ask; else the first one that the server lists.")
@click.option("--name", default="", help="The name of the target; else it is made from the host.")
@click.option("--key-variable", default="", help="The environment variable that holds the server's key.")
@click.option(
    "--max-requests",
    type=click.IntRange(1, MOST_REQUESTS),
    default=MOST_REQUESTS,
    show_default=True,
    help="Send at most so many requests.",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0, min_open=True),
    default=0.5,
    show_default=True,
    help="Stop at so many dollars; a model without a known price counts as a dear one.",
)
@click.option("--dry-run", is_flag=True, help="Print the target, and write nothing.")
@click.pass_context
def probe_command(
    ctx: click.Context,
    /,
    url: str,
    model: str,
    name: str,
    key_variable: str,
    max_requests: int,
    max_cost: float,
    dry_run: bool,
) -> None:
    """Find out how to speak to the server at URL, and write a target for it.

    Small requests show which protocol it speaks and what it refuses: roles, ids, names of
    results, parallel calls, thinking, schemas, options, streams. Each is told before it is sent.

    \b
    Examples:
      turnout probe http://127.0.0.1:9000/v1
      turnout probe https://llm.example/v1 -m house-7b --key-variable HOUSE_KEY --name house
    """
    config = configuration(SessionArguments())
    name = name or _name_of(url)
    if not dry_run:
        expect_free_name(config.places, name)
    if key_variable and not config.environment.get(key_variable):
        raise UsageError(f"{key_variable} is not set; set it to the key of the server, or leave it out")
    caller = _Caller(config.environment, key_variable, SharedHttp())
    finding = asyncio.run(_run_probe(caller, url.rstrip("/"), model, name, max_requests, max_cost))
    _print_finding(finding)
    if finding.target is None:
        click.echo("No protocol that turnout speaks was accepted. Nothing was written.", err=True)
        ctx.exit(exits.CONFIGURATION)
    _write_finding(config, name, key_variable, finding, finding.target, dry_run)


class _Caller:
    """Sends the requests of a probe, with the key of the server."""

    def __init__(self, environment: Mapping[str, str], key_variable: str, transport: Transport) -> None:
        self._keys = Keys({}, {})
        self._key = environment.get(key_variable, "") if key_variable else ""
        self._transport = transport

    async def send(self, asked: ProbeRequest) -> ProbeAnswer:
        headers = {**asked.request.headers, **await self._key_headers(asked.target)}
        return await self._send_request(Outgoing("POST", asked.request.url, headers, asked.request.body))

    async def first_model(self, base_url: str, name: str) -> str:
        """The first model that the server lists."""
        place = find_target(f"compatible@{name}:", base_url=base_url)
        headers = await self._key_headers(place)
        for path in LISTS:
            answer = await self._send_request(Outgoing("GET", f"{base_url}{path}", headers, b""))
            if answer.is_accepted and (found := _first_model_in(answer.body)):
                return found
        return ""

    async def _key_headers(self, place: Target) -> dict[str, str]:
        self._keys.set(account_name(place), self._key)
        return await self._keys.headers(place, required=False)

    async def _send_request(self, request: Outgoing) -> ProbeAnswer:
        try:
            async with asyncio.timeout(PATIENCE), self._transport.send(request) as answer:
                body = b"".join([chunk async for chunk in answer.chunks])
                return ProbeAnswer(answer.status, dict(answer.headers), body)
        except (OSError, TimeoutError, TurnoutError) as error:
            return ProbeAnswer(0, {}, str(error).encode())


async def _run_probe(
    caller: _Caller, url: str, model: str, name: str, max_requests: int, max_cost: float
) -> ProbeFinding:
    if not model:
        click.echo(f" 0  the list of models: {redact_keys(url)}{', or '.join(LISTS)}")
        model = await caller.first_model(url, name)
        if not model:
            raise UsageError(f"{redact_keys(url)} lists no model; name one with -m")
        click.echo(f"    the model is {one_line(model, 80)}")
        max_requests -= len(LISTS)
    probe = ServerProbe(url, model, name, most=max_requests, max_cost=max_cost)
    while (asked := probe.next_request()) is not None:
        click.echo(f"{asked.number:2}  {asked.what}, in {asked.target.api}", nl=False)
        answer = await caller.send(asked)
        if answer.status == 0 and asked.number == 1:
            click.echo()
            words = one_line(redact_keys(answer.body.decode(errors="replace")))
            raise UsageError(f"{redact_keys(url)} does not answer: {words}; check the address")
        click.echo(": accepted" if answer.is_accepted else f": {answer.status}")
        probe.read_answer(answer)
    click.echo(f"{probe.sent} requests, about ${probe.spent:.4f}")
    return probe.findings


def _print_finding(finding: ProbeFinding) -> None:
    for line in finding.learned:
        click.echo(f"learned    {one_line(redact_keys(line), 300)}")
    for line in (*finding.uncertain, *UNTRIED):
        click.echo(f"uncertain  {one_line(redact_keys(line), 300)}")


LISTS = ("/models", "/api/tags")
"""Where servers list their models; the second one is Ollama's."""
UNTRIED = ("images and files, the window and the prices of its models: not tried",)


def _write_finding(
    config: Config, name: str, key_variable: str, finding: ProbeFinding, place: Target, dry_run: bool
) -> None:
    settings = {
        "target": f"{place.provider.name}:{place.model}",
        "base_url": place.provider.base_url,
        **({"key_variable": key_variable} if key_variable else {}),
        "dialect": {key: "" if value is None else value for key, value in finding.changes.items()},
    }
    about = f"Found by `turnout probe` with {finding.requests} requests."
    if dry_run:
        click.echo(target_table(name, settings, about))
        return
    path = add_target(config.places, name, settings, about)
    click.echo(f"written to {path}; use it as: turnout -m {name}:{place.model}")


def _name_of(url: str) -> str:
    host = urlsplit(url).hostname
    if not host:
        raise UsageError(f"{redact_keys(url)} is not an address; write it as http://HOST:PORT/v1")
    return re.sub(r"[^A-Za-z0-9]+", "-", host).strip("-")[:64] or "server"


def _first_model_in(body: bytes) -> str:
    try:
        listed = msgspec.json.decode(body)
    except ValueError:
        return ""
    entries = listed.get("data") or listed.get("models") if isinstance(listed, dict) else listed
    names = [str(entry.get("id") or entry.get("name")) for entry in entries or () if isinstance(entry, dict)]
    return names[0].removeprefix("models/") if names else ""
