"""What to do about a failed request: provider, variable, address and the next step."""

from __future__ import annotations

from collections.abc import Mapping

from ...targets.target import Target
from ...wire.shared.redaction import redact_keys

OTHER = "another model: /model, or -m"


def failure_advice(kind: str, target: Target, environment: Mapping[str, str]) -> str:
    """One or two sentences about what to do next; "" where there is nothing to add."""
    name, address = target.provider.name, redact_keys(target.provider.base_url)
    match kind:
        case "auth":
            key = _key_words(target, environment)
            return f"{key} Asked was {address}. {_new_key(name, target)}; {OTHER}."
        case "network" | "timeout":
            moved = _moved_words(target, environment)
            return f"{name} was asked at {address}{moved}. {_reach_words(name, address)}"
        case "not_found":
            unknown = f"{name} at {address} does not know {target.model}."
            return f"{unknown} `turnout models {name}` lists known ones; {OTHER}."
        case "quota":
            return f"The quota of {name} is used up: check the account there. {OTHER.capitalize()}."
        case "rate_limit":
            return f"{name} limits how often you may ask: wait a little. {OTHER.capitalize()}."
        case "context_too_long":
            return "/compact frees context."
        case "invalid_request":
            return f"/diagnose finds the fault; {OTHER}."
    return ""


def _key_words(target: Target, environment: Mapping[str, str]) -> str:
    """Which key was refused, or which variables were looked at."""
    name, variables = target.provider.name, target.provider.key_variables
    if found := [variable for variable in variables if environment.get(variable)]:
        return f"{name} refused the key in {found[0]}."
    looked = " and ".join(variables)
    return f"{name} needs a key; {looked} is not set." if looked else f"{name} refused the request."


def _new_key(name: str, target: Target) -> str:
    variables = target.provider.key_variables
    set_it = f"Set {variables[0]}, or sign in" if variables else "Sign in"
    return f"{set_it}: /login {name}, or `turnout login {name}`"


def _moved_words(target: Target, environment: Mapping[str, str]) -> str:
    variable = target.provider.base_url_variable
    return f" (from {variable})" if variable and environment.get(variable) else ""


def _reach_words(name: str, address: str) -> str:
    if "127.0.0.1" in address or "localhost" in address:
        return f"Start that server, or give its address with --base-url; {OTHER}."
    return f"Check the network, or try `turnout providers --check {name}`."
