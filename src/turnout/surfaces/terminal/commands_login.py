"""/login: sign in to a provider from inside a conversation. The key is not shown and not sent to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import UsageError
from ...providers import PROVIDERS, find_provider
from ..shared.clean_text import one_line, printable
from .commands_model import switch_model
from .picker import PickRow
from .pieces import Notice

if TYPE_CHECKING:
    from .talk import Talk


def sign_in_here(talk: Talk, name: str) -> None:
    talk.do_aside(_sign_in(talk, name))


def login_names(talk: Talk) -> list[str]:
    return [name for name, known in PROVIDERS.items() if known.key_variables]


async def _sign_in(talk: Talk, name: str) -> None:
    from ...world.accounts import Accounts, account_named
    from ...world.sign_in import sign_in_with_key

    accounts = Accounts.of(talk.config.environment)
    if accounts is None:
        raise UsageError("no home folder is known, so nothing can be kept; set HOME")
    if not name and not (name := await _pick_provider(talk)):
        return
    account, known = account_named(name)
    if account.kind == "github":
        talk.edge.show(
            Notice(f"{known.name} is signed in with a code: run `turnout login {name}` in a shell.")
        )
        return
    variable = known.base_url_variable
    address = talk.config.environment.get(variable, "") if variable else ""
    key = await talk.edge.inquire(f"API key of {known.name} (not shown)", secret=True)
    if not key:
        return
    done = await sign_in_with_key(accounts, account.name, key, base_url=address)
    talk.edge.show(Notice(printable(one_line(done.trial.detail, 300)), "dim" if done.account else "bad"))
    if done.account is not None and not talk.config.has_key(talk.session.target.provider.name):
        switch_model(talk, known.name)


async def _pick_provider(talk: Talk) -> str:
    names = login_names(talk)
    rows = [
        PickRow(name, talk.config.key_source(name) or f"no {PROVIDERS[name].key_variables[0]}")
        for name in names
    ]
    chosen = await talk.edge.pick("Sign in to", rows)
    return find_provider(names[chosen]).name if chosen is not None else ""
