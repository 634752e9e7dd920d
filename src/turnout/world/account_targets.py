"""One target for each stored account that may be asked: `openai:gpt-5.2` with the accounts work and home."""

from __future__ import annotations

from msgspec.structs import replace

from ..model import Origin
from ..providers import find_provider
from ..targets.target import Target
from .accounts import Account, Accounts, is_for_host


def targets_by_account(place: Target, accounts: Accounts | None) -> list[Target]:
    """The target with each account that fits it, in the order of the sign-ins; else the target as it is.

    An account brings its address along, unless the user has chosen another one.
    """
    if accounts is None:
        return [place]
    usual = find_provider(place.provider.name).at(place.origin.endpoint).base_url
    is_moved = place.provider.base_url != usual
    found = [
        _at_account(place, account, is_moved)
        for account in accounts.accounts_for(place.origin, place.provider)
        if _is_usable(place, account) and (not is_moved or is_for_host(account, place.provider.base_url))
    ]
    return found or [place]


def _is_usable(place: Target, account: Account) -> bool:
    """A label that is also the name of an endpoint is used by those only who name it."""
    return account.label == place.origin.endpoint or account.label not in place.provider.variants


def _at_account(place: Target, account: Account, is_moved: bool) -> Target:
    origin = Origin(place.origin.provider, account.label or place.origin.endpoint, place.origin.model)
    base_url = place.provider.base_url if is_moved else account.base_url
    return replace(place, origin=origin, provider=replace(place.provider, base_url=base_url))
