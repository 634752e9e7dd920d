"""`turnout config`: the settings in force and their sources, and the trust that a project's files need."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ...errors import UsageError
from ...providers import PROVIDERS
from ...wire.shared.redaction import redact_keys
from ...world.config import Config
from ...world.trust import LARGEST, Trust, project_files
from ..shared.clean_text import printable, visible, visible_line
from ..shared.open_session import SessionArguments, configuration
from .output import json_text, table, value


@click.command("config")
@click.option("--trust", is_flag=True, help="Show the project's untrusted files, and trust them.")
@click.option("-y", "--yes", is_flag=True, help="With --trust: do not ask for confirmation.")
@click.option("--revoke", type=int, metavar="NUMBER", help="Revoke a granted rule, by its number.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--cwd", "folder", default="", help="The folder to show.")
@click.option("--profile", default="", help="Use this profile of the configuration.")
def config_command(
    trust: bool, yes: bool, revoke: int | None, as_json: bool, folder: str, profile: str
) -> None:
    """Show the settings in force in this folder, and where each comes from.

    Settings come from ~/.config/turnout/config.toml, the project's .turnout/config.toml,
    TURNOUT_MODEL and the command line; the later one wins. The files of a project (settings,
    rules, commands, MCP servers) have no effect until you have seen and trusted them. A file
    that changes must be trusted again.

    \b
    A configuration to start from:
      model = "anthropic:claude-sonnet-5"
      fallback = ["openai:gpt-5.2"]
      [targets.work]
      target = "openai:gpt-5.2"
      key_command = ["pass", "show", "openai-work"]
      [[rules]]
      effect = "allow"
      tool = "shell"
      arguments = { command = "pytest*" }
      [profiles.cheap]
      model = "mistral:mistral-small-latest"
    """
    found = configuration(SessionArguments(folder=folder, profile=profile))
    if trust:
        _trust_files(found, yes)
    elif revoke is not None:
        _revoke_grant(found, revoke)
    elif as_json:
        click.echo(redact_keys(json_text(_as_json(found))))
    else:
        click.echo("\n".join(_report_lines(found)))


def _report_lines(config: Config) -> Iterator[str]:
    settled = [item for item in config.in_force if item.name not in ("rules", "targets", "profiles")]
    yield table(
        ("setting", "value", "from"),
        [(item.name, _setting_text(item.value), item.source) for item in settled],
    )
    yield ""
    yield from _section(
        "targets", [(name, _target(config, name), config.source_of(name)) for name in config.targets()]
    )
    yield from _section(
        "profiles", [(name, ", ".join(each)) for name, each in config.settings.profiles.items()]
    )
    yield from _section("rules", [(str(rule),) for rule in config.settings.rules])
    granted = [(f"{number}.", visible(str(rule))) for number, rule in enumerate(config.grants.rules, 1)]
    yield from _section("granted here (`turnout config --revoke NUMBER` revokes one)", granted)
    servers = config.mcp_servers().items()
    yield from _section("MCP servers", [(name, one.summary, one.source) for name, one in servers])
    yield from _section("files", list(_files(config)))
    yield from _section("keys found", [(name,) for name in _keys(config)])


def _section(title: str, rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Columns under a title; the last column is the source, if it is known."""
    if rows:
        yield f"{title}:"
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            yield printable(redact_keys("  " + "  ".join(cells))).rstrip()
        yield ""


def _target(config: Config, name: str) -> str:
    place = config.target(name)
    return f"{place.origin} at {place.provider.base_url}"


def _files(config: Config) -> Iterator[tuple[str, str]]:
    own = config.places.config / "config.toml"
    yield str(own), "in force" if own.is_file() else "does not exist"
    for path in project_files(config.folder):
        yield str(path), "not trusted: no effect" if path in config.untrusted else "trusted"
    if (instructions := config.instructions_file) is not None:
        yield str(instructions), "instructions to the model"


def _keys(config: Config) -> list[str]:
    names = [name for provider in PROVIDERS.values() for name in provider.key_variables]
    return [name for name in dict.fromkeys(names) if config.environment.get(name)]


def _setting_text(setting: Any) -> str:
    if setting in ("", None, (), {}):
        return "–"
    text = setting if isinstance(setting, str) else json.dumps(value(setting), ensure_ascii=False)
    return printable(redact_keys(text))


def _as_json(config: Config) -> dict[str, Any]:
    return {
        "settings": {
            item.name: {"value": value(item.value), "from": item.source} for item in config.in_force
        },
        "targets": {
            name: {"target": _target(config, name), "from": config.source_of(name)}
            for name in config.targets()
        },
        "profiles": sorted(config.settings.profiles),
        "rules": [str(rule) for rule in (*config.settings.rules, *config.grants.rules)],
        "mcp_servers": {
            name: {"server": one.summary, "from": one.source} for name, one in config.mcp_servers().items()
        },
        "files": dict(_files(config)),
        "untrusted": [str(path) for path in config.untrusted],
        "keys_found": _keys(config),
    }


def _revoke_grant(config: Config, number: int) -> None:
    granted = config.grants.rules
    if not 1 <= number <= len(granted):
        if not granted:
            raise UsageError("no rule was granted in this folder, so there is none to revoke; check --cwd")
        raise UsageError(f"there is no granted rule {number}; give a number from 1 to {len(granted)}")
    config.grants.remove(granted[number - 1])
    click.echo(f"Revoked: {visible(str(granted[number - 1]))}")


def _trust_files(config: Config, yes: bool) -> None:
    if not config.untrusted:
        click.echo("No untrusted files here.")
        return
    for path in config.untrusted:
        if path.stat().st_size > LARGEST:
            raise UsageError(
                f"{path} has {path.stat().st_size:,} bytes, the limit is {LARGEST:,}; shorten it"
            )
    seen = [(path, path.read_bytes()) for path in config.untrusted]
    for path, data in seen:
        _show_file(path, data)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("stdin is not a terminal, so you cannot be asked; read the files and add --yes")
        click.confirm("Trust these files as they are?", abort=True)
    Trust(config.places).trust_contents(seen)
    click.echo(
        f"Trusted {len(seen)} file{'s' if len(seen) > 1 else ''}; after a change they must be trusted again."
    )


def _show_file(path: Path, data: bytes) -> None:
    click.echo(f"--- {visible(str(path))}")
    for line in data.decode(errors="replace").rstrip("\n").split("\n"):
        click.echo(visible_line(line))
    click.echo("---")
