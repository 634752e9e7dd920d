"""How a command opens a session: configuration, options and the stored past, put together once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ...errors import UsageError
from ...model import Origin
from ...providers import PROVIDERS
from ...runtime.config import Config, load
from ...runtime.cost import Limits, check_countable
from ...runtime.guards import GuardLimits
from ...runtime.session import Session
from ...tools.builtin import ANYWHERE, BUILTIN
from ...tools.output import SavedOutput
from ...tools.policy import Rule
from ...tools.workspace import Workspace, works_here

if TYPE_CHECKING:
    from ...runtime.store import Store

SYSTEM = (
    "You are turnout, an agent in a terminal. You work in one folder with the tools you are given. Look "
    "before you act, change only what is asked for, and say plainly what you did and what you could not do."
)


class Wanted(Struct, frozen=True, kw_only=True):
    """What the command line asks for."""

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


def configuration(wanted: Wanted, environment: Mapping[str, str] | None = None) -> Config:
    folder = Path(wanted.folder or ".").resolve()
    if not folder.is_dir():
        raise UsageError(f"{wanted.folder} is not a folder")
    given: dict[str, Any] = {"model": wanted.model, "fallback": wanted.fallback, "approval": wanted.approval}
    given |= {"max_cost": wanted.max_cost, "system": wanted.system, "network": wanted.network}
    given |= {"foreign_thinking": wanted.foreign_thinking}
    chosen = {name: value for name, value in given.items() if value not in ("", None, ())}
    config = load(
        os.environ if environment is None else environment, folder, profile=wanted.profile, **chosen
    )
    config.set_prices()
    return config


def open_session(
    wanted: Wanted, config: Config, *, debug: Callable[..., None] | None = None, **settings: Any
) -> Session:
    """The session that a command asks for."""
    names = [
        wanted.model or last_model(config, settings) or config.default_model(),
        *config.settings.fallback,
    ]
    targets = [config.target(name, "" if at else wanted.base_url) for at, name in enumerate(names)]
    limits = Limits(cost=config.settings.max_cost)
    check_countable(limits, (place.origin for place in targets))
    session = Session(
        targets=targets,
        route=config.settings.route or ("failover" if len(targets) > 1 else "fixed"),
        keys=config.keys(),
        tools=BUILTIN if works_here() else ANYWHERE,
        system=instructions(config),
        workspace=Workspace(str(config.folder), saved=SavedOutput()) if works_here() else None,
        approval=config.settings.approval,
        rules=(*config.settings.rules, *config.grants.rules, *rules(wanted)),
        limits=limits,
        guard=GuardLimits(rounds=wanted.max_turns) if wanted.max_turns else None,
        subagents=config.settings.subagents,
        network=config.settings.network,
        taint=config.settings.taint,
        environment=config.environment,
        debug=debug,
        **thinking(config),
        **settings,
    )
    _check_rules(rules(wanted), [tool.name for tool in session.scheduler.registry])
    return session


def unconfined(session: Session) -> str:
    """What a user should know where no sandbox holds commands; "" where one does."""
    if session.scheduler.workspace is None:
        return "no tools for files and commands: this system cannot confine them to a folder"
    spawn = session.scheduler.spawn
    if getattr(spawn, "confines", False):
        return ""
    then = "they run unasked" if session.scheduler.policy.mode == "full" else "each is asked for"
    return f"no sandbox holds commands ({getattr(spawn, 'note', '') or 'there is none'}): {then}"


def _check_rules(given: Iterable[Rule], names: list[str]) -> None:
    """A rule about a tool that is not there would protect from nothing; MCP servers' come later."""
    for rule in given:
        if not rule.tool.startswith("mcp__") and not any(fnmatchcase(name, rule.tool) for name in names):
            near = get_close_matches(rule.tool, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the tools are {', '.join(names)}"
            raise UsageError(f"--{rule.effect} {rule.tool}: no tool is called that; {hint}")


def last_model(config: Config, past: Mapping[str, Any]) -> str:
    """Who answered last in the session that is gone on with, so that it goes on with whom it was."""
    if "id" not in past:
        return ""
    origin = Origin.parse(past["store"].summary(past["id"]).model or "-")
    if origin.endpoint in config.settings.targets:
        return str(origin)
    return str(origin) if origin.model and origin.provider in PROVIDERS else ""


def instructions(config: Config) -> str:
    """The system text: ours or the user's, the folder, and what the project says to agents."""
    parts = [config.settings.system or SYSTEM, f"The folder is {config.folder}."]
    if project := config.instructions():
        parts.append(f"The project's own instructions:\n\n{project}")
    return "\n\n".join(parts)


def thinking(config: Config) -> dict[str, Any]:
    """What the settings say about thinking, as options of every request."""
    settings = config.settings
    given = {"thinking": settings.thinking, "effort": settings.effort}
    given |= {"foreign_thinking": settings.foreign_thinking}
    return {name: value for name, value in given.items() if value is not None}


def rules(wanted: Wanted) -> list[Rule]:
    """--allow and --deny: a tool's name, or `tool(pattern)` for its first argument or path."""
    return [_rule("allow", text) for text in wanted.allow] + [_rule("deny", text) for text in wanted.deny]


_RULE = re.compile(r"([\w*?\[\]!.-]+)(?:\((.+)\))?", re.DOTALL)


def _rule(effect: Any, text: str) -> Rule:
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--{effect} {text!r} is no rule; write a tool's name, or tool(pattern)")
    name, pattern = found.groups()
    if not pattern:
        return Rule(effect, name)
    key = "command" if name == "shell" else ""
    return Rule(effect, name, arguments={key: pattern}) if key else Rule(effect, name, path=pattern)


def past(wanted: Wanted, config: Config) -> dict[str, Any]:
    """Where the session is kept, and which one is gone on with."""
    if not wanted.stored:
        if wanted.resume or wanted.continues:
            raise UsageError(
                "--no-store keeps nothing, so there is nothing to go on with; leave one of them out"
            )
        return {}
    from ...runtime.store import open_store  # SQLite is loaded when it is needed

    if wanted.resume and wanted.continues:
        raise UsageError("-c is the latest session and -r ID another; give one of them")
    store = open_store(config.environment)
    found = known(store, wanted.resume) if wanted.resume else latest(store) if wanted.continues else ""
    if wanted.fork and not found:
        raise UsageError("--fork copies a session: say which, with -c or -r ID")
    if wanted.fork:
        found = store.fork(found)
    return {"store": store, **({"id": found} if found else {})}


def latest(store: Store) -> str:
    """The session that was worked with last."""
    lines = store.list(limit=1)
    if not lines:
        raise UsageError("there is no session to continue; start one without -c")
    return lines[0].id


def known(store: Store, given: str) -> str:
    """The session that an id, or the beginning of one, means."""
    if store.knows(given):
        return given
    found = [line.id for line in store.list() if line.id.startswith(given)]
    if len(found) == 1:
        return found[0]
    raise UsageError(
        f"{len(found)} sessions begin with {given!r}; give more of the id"
        if found
        else f"there is no session {given!r}; `turnout sessions` lists those there are"
    )
