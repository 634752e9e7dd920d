"""Slash commands for who answers: /model with its list, and /provider."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...model import ModelTurn, Origin
from ...providers import PROVIDERS, find_provider
from ...providers.catalogue import LOCAL
from ...providers.models import facts
from ...providers.prices import price
from ...world.config import DEFAULT_MODELS
from ...world.local_servers import local_servers
from ...world.model_names import full_target_name, known_model_names
from ..shared.system_prompt import system_prompt
from .picker import PickRow
from .pieces import Notice, Rows
from .status_line import token_count

if TYPE_CHECKING:
    from .talk import Talk

REMEMBERED = 50
"""Stored sessions whose models count as used."""


def model_names(talk: Talk, local: Sequence[str] = ()) -> list[str]:
    """The names that /model offers: last used first, then what is ready, then what is known.

    `local` are the models of servers on this machine: they are ready too.
    """
    named = talk.config.settings.targets
    ours = [name if name in named else full_target_name(name) for name in talk.config.targets()]
    names = [*used_models(talk), str(talk.session.target.origin), *ours]
    ready = [name for name in known_model_names() if _has_key(talk, name)]
    rest = [name for name in known_model_names() if not _has_key(talk, name)]
    return list(dict.fromkeys([*names, *local, *ready, *rest]))


async def local_model_names(talk: Talk) -> list[str]:
    """The models that servers on this machine offer now, as `provider:model`."""
    servers = await local_servers(talk.config.environment)
    return [f"{server.provider}:{model}" for server in servers for model in server.models]


def used_models(talk: Talk) -> Iterator[str]:
    """The models of this session and of the stored ones, the last used first."""
    for turn in reversed(talk.session.history.turns):
        if isinstance(turn, ModelTurn) and turn.origin.model:
            yield str(turn.origin)
    store = talk.opener.store
    for line in store.list(limit=REMEMBERED) if store is not None else ():
        origin = Origin.parse(line.model or "-")
        if origin.model and origin.provider in PROVIDERS:
            yield str(origin)


def switch_model(talk: Talk, name: str) -> None:
    if name:
        _use_model(talk, name)
    else:
        talk.do_aside(_pick_model(talk))


async def _pick_model(talk: Talk) -> None:
    names = model_names(talk, await local_model_names(talk))
    current = str(talk.session.target.origin)
    rows = [_model_row(talk, name, name == current) for name in names]
    chosen = await talk.edge.pick("Models: type to search; any other provider:model works too", rows)
    if chosen is not None:
        _use_model(talk, names[chosen])


def _use_model(talk: Talk, name: str) -> None:
    place = talk.config.target(name)
    if talk.session.system == system_prompt(talk.config, talk.session.target):
        talk.session.system = system_prompt(talk.config, place)  # a few words depend on the model
    talk.session.switch(place)
    talk.refresh_status()
    when = "after this reply" if talk.session.busy else "from now on"
    talk.edge.show(Notice(f"{place.origin} answers {when}, with the whole conversation."))


def _model_row(talk: Talk, name: str, is_current: bool) -> PickRow:
    """The name of a model, its window, its price, and whether there is a key."""
    named = talk.config.settings.targets.get(name)
    origin = Origin.parse(named.target if named is not None else name)
    known, cost = facts(origin.model), price(origin)
    parts = [token_count(known.context)] if known.known else []
    if origin.provider in LOCAL:
        parts.append("local")
    elif cost is not None:
        parts.append(f"${cost.input:g}/${cost.output:g}")
    parts.append("key" if _has_key(talk, name) else _missing_key(origin.provider))
    if is_current:
        parts.append("current")
    return PickRow(name, " · ".join(part for part in parts if part))


def _has_key(talk: Talk, name: str) -> bool:
    """Whether this target can be asked: its key is there, or it needs none."""
    if name in talk.config.settings.targets:
        return True
    try:
        known = find_provider(Origin.parse(name).provider)
    except UsageError:
        return False
    return known.auth == "none" or not known.key_variables or talk.config.has_key(known.name)


def _missing_key(provider: str) -> str:
    try:
        return f"no {find_provider(provider).key_variables[0]}"
    except (UsageError, IndexError):
        return "no key"


def provider_names(talk: Talk) -> list[str]:
    return [name for name in PROVIDERS if talk.config.has_key(name)]


def switch_provider(talk: Talk, name: str) -> None:
    if not name:
        rows = [(known, DEFAULT_MODELS.get(known, "")) for known in provider_names(talk)]
        talk.edge.show(Rows(tuple(rows), "Providers with a key; `turnout providers` lists all"))
        return
    switch_model(talk, find_provider(name).name)
