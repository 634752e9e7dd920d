"""How a command opens a session from its configuration, its options and the store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ...errors import UsageError
from ...model import Origin
from ...providers import PROVIDERS
from ...providers.cost import check_countable
from ...session.limits import Limits
from ...session.session import Session
from ...session.settings import Approval, Routing, Workspace
from ...targets.target import Route
from ...tools.builtin import ANYWHERE, BUILTIN
from ...tools.confine.workspace import works_here
from ...tools.policy.rules import Rule
from ...wire.options import Options
from ...world.config import Config, load_config
from ...world.request_settings import parse_options
from ...world.world import World
from .system_prompt import system_prompt

if TYPE_CHECKING:
    from ...store import Store
    from ...world.ports import Transport


CHOOSE = "?"
"""The value of -r without an id: the user chooses a session."""


class SessionArguments(Struct, frozen=True, kw_only=True):
    """What the command line says about the session."""

    model: str = ""
    fallback: tuple[str, ...] = ()
    approval: str = ""
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    system: str = ""
    folder: str = ""
    profile: str = ""
    max_turns: int | None = None
    max_cost: float | None = None
    network: bool | None = None
    foreign_thinking: str | None = None
    resume: str = ""
    continues: bool = False
    fork: bool = False
    base_url: str = ""
    stored: bool = True
    option: tuple[str, ...] = ()  # NAME=VALUE
    fallback_on: tuple[str, ...] = ()


def configuration(wanted: SessionArguments, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration of the folder, with the command line on top."""
    folder = Path(wanted.folder or ".").resolve()
    if not folder.is_dir():
        raise UsageError(f"{wanted.folder} is not a folder; give an existing folder with --cwd")
    given: dict[str, Any] = {"model": wanted.model, "fallback": wanted.fallback, "approval": wanted.approval}
    given |= {"max_cost": wanted.max_cost, "system": wanted.system, "network": wanted.network}
    given |= {"foreign_thinking": wanted.foreign_thinking, "fallback_on": wanted.fallback_on}
    chosen = {name: value for name, value in given.items() if value not in ("", None, ())}
    config = load_config(
        os.environ if environment is None else environment, folder, profile=wanted.profile, **chosen
    )
    config.set_facts()
    return config


def open_session(
    wanted: SessionArguments,
    config: Config,
    *,
    store: Store | None = None,
    id: str = "",
    approval: Approval | None = None,
    transport: Transport | None = None,
    debug: Callable[..., None] | None = None,
) -> Session:
    """The session of a command. `approval` says who is asked; the rest is in the configuration."""
    settings = config.settings
    name = wanted.model or last_model(config, store, id) or config.default_model()
    target = config.target(name, wanted.base_url)
    fallback = [config.target(name) for name in settings.fallback]
    check_countable(settings.max_cost, (place.origin for place in (target, *fallback)))
    session = Session(
        target,
        fallback=fallback,
        route=_route_of(config),
        tools=BUILTIN if works_here() else ANYWHERE,
        system=system_prompt(config, target),
        store=store,
        id=id or None,
        options=_request_options(wanted, config),
        approval=replace(
            approval or Approval(),
            mode=settings.approval,
            rules=(*settings.rules, *config.grants.rules, *command_line_rules(wanted)),
            taint=settings.taint,
        ),
        workspace=Workspace(config.folder, settings.network) if works_here() else None,
        limits=_limits(wanted, config),
        world=World(
            transport=transport,
            keys=config.keys(),
            environment=config.environment,
            debug=debug,
            learned=config.learned_steps,
        ),
    )
    _check_rules(command_line_rules(wanted), [tool.name for tool in session.scheduler.registry])
    if store is not None:
        config.folder_sessions.note(config.folder, session.id)
    return session


def _route_of(config: Config) -> Routing | Route | None:
    settings = config.settings
    if not settings.fallback_on:
        return settings.route or None
    return Routing(settings.route or ("failover" if settings.fallback else "fixed"), settings.fallback_on)


def _request_options(wanted: SessionArguments, config: Config) -> Options:
    """The options of every request; those of the command line come before the settings."""
    settings = config.settings
    given = parse_options(wanted.option)
    usual = {"thinking": settings.thinking, "effort": settings.effort}
    usual["foreign_thinking"] = settings.foreign_thinking or "omit"
    if "effort" in given:  # a switch of the settings must not contradict it
        usual.pop("thinking")
    return Options.of({**usual, **given})


def _limits(wanted: SessionArguments, config: Config) -> Limits:
    limits = Limits(cost=config.settings.max_cost, subagents=config.settings.subagents)
    return replace(limits, rounds=wanted.max_turns) if wanted.max_turns else limits


def confinement_warning(session: Session) -> str:
    """What the user should know if there is no sandbox for commands; "" if there is one."""
    if session.scheduler.workspace is None:
        return "no tools for files and commands: this system cannot confine them to a folder"
    spawn = session.scheduler.spawn
    if getattr(spawn, "confines", False):
        return ""
    then = "they run without a question" if session.scheduler.policy.mode == "full" else "every command asks"
    return f"commands are not in a sandbox ({getattr(spawn, 'note', '') or 'there is none'}): {then}"


def _check_rules(given: Iterable[Rule], names: list[str]) -> None:
    """Refuse a rule for an unknown tool: it would protect nothing. Tools of MCP servers are not known yet."""
    for rule in given:
        if not rule.tool.startswith("mcp__") and not any(fnmatchcase(name, rule.tool) for name in names):
            near = get_close_matches(rule.tool, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(names)}"
            raise UsageError(f"--{rule.effect} {rule.tool}: there is no such tool; check the name: {hint}")


def last_model(config: Config, store: Store | None, id: str) -> str:
    """The model that answered last in the session that is resumed; "" for a new session."""
    if store is None or not id:
        return ""
    origin = Origin.parse(store.summary(id).model or "-")
    if origin.endpoint in config.settings.targets:
        return str(origin)
    return str(origin) if origin.model and origin.provider in PROVIDERS else ""


def command_line_rules(wanted: SessionArguments) -> list[Rule]:
    """--allow and --deny: a tool's name, or `tool(pattern)` for its first argument or path."""
    return [_parse_rule("allow", text) for text in wanted.allow] + [
        _parse_rule("deny", text) for text in wanted.deny
    ]


_RULE = re.compile(r"([\w*?\[\]!.-]+)(?:\((.+)\))?", re.DOTALL)


def _parse_rule(effect: Any, text: str) -> Rule:
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--{effect} {text!r} is not a rule; write a tool's name, or tool(pattern)")
    name, pattern = found.groups()
    if not pattern:
        return Rule(effect, name)
    key = "command" if name == "shell" else ""
    return Rule(effect, name, arguments={key: pattern}) if key else Rule(effect, name, path=pattern)


def stored_session(wanted: SessionArguments, config: Config) -> dict[str, Any]:
    """The store, and the id of the session that is resumed, as arguments of `open_session`."""
    if not wanted.stored:
        if wanted.resume or wanted.continues:
            raise UsageError("--no-store cannot resume a session; remove it, or remove -c and -r")
        return {}
    from ...store import open_store  # loads SQLite, which not every command needs

    if wanted.resume and wanted.continues:
        raise UsageError("-c resumes the latest session of this folder, -r ID any one; give only one of them")
    store = open_store(config.environment)
    found = ""
    if wanted.resume and wanted.resume != CHOOSE:
        found = find_session(store, wanted.resume)
    elif wanted.continues:
        found = latest_session(store, config)
    if wanted.fork and not found and wanted.resume != CHOOSE:
        raise UsageError("--fork copies a session; name it with -c or -r ID")
    if wanted.fork and found:
        found = store.fork(found)
    return {"store": store, **({"id": found} if found else {})}


def latest_session(store: Store, config: Config) -> str:
    """The id of the session that was used last in this folder."""
    known = [store.summary(id) for id in config.folder_sessions.ids_of(config.folder) if store.knows(id)]
    spoken = [line for line in known if line.turns]
    if not spoken:
        raise UsageError(
            f"there is no session of {config.folder} to resume; start one without -c, "
            "or choose one of another folder with -r"
        )
    return max(spoken, key=lambda line: line.updated).id


def find_session(store: Store, given: str) -> str:
    """The id of the session with this id, or with an id that starts like this."""
    if store.knows(given):
        return given
    found = [line.id for line in store.list() if line.id.startswith(given)]
    if len(found) == 1:
        return found[0]
    raise UsageError(
        f"{len(found)} sessions start with {given!r}; give more of the id"
        if found
        else f"there is no session {given!r}; `turnout sessions` lists them"
    )
