"""Keys of clients: whose token it is, which models it may ask for, and how much it may use."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ...errors import ProviderError, UsageError
from ...world.gateway_settings import GatewayKeySettings, GatewaySettings
from ...world.places import write_private
from .guard import FailureCounter, Refusal, digest_of, given_token, host_name, matching_name
from .memory import GatewayMemory
from .names import is_allowed
from .values import Request

TOKEN = "TURNOUT_GATEWAY_TOKEN"
OWNER = "owner"
"""The name of the gateway's own token: it may ask for everything."""
NO_TOKEN = (
    "no valid token: send the gateway's token as Authorization: Bearer, x-api-key, x-goog-api-key or ?key= "
    "(`turnout serve --for CLIENT` shows how; for llm it is api_key_name in extra-openai-models.yaml)"
)


class ClientAccess(Struct, frozen=True):
    """A client that was let in."""

    name: str
    limits: GatewayKeySettings | None = None


class AccessList:
    """All tokens, and what each has used."""

    def __init__(self, token: str, settings: GatewaySettings, environment: Mapping[str, str]) -> None:
        self._limits = dict(settings.keys)
        self._digests = {OWNER: digest_of(token)} if token else {}
        for name, key in settings.keys.items():
            self._digests[name] = digest_of(_token_of(name, key, environment))
        self._failures = FailureCounter()
        self._rates: dict[str, tuple[int, int, int]] = {}  # the minute, its requests and its tokens
        self._spent: dict[str, tuple[float, int, float]] = {}  # the start of the period, tokens, dollars

    def admit(self, request: Request, now: float) -> Refusal | None:
        """401 without a valid token, 429 for an address that sent many wrong ones."""
        peer = request.peer
        if self._failures.is_blocked(peer, now) and host_name(peer) not in ("127.0.0.1", "::1", "local"):
            return Refusal(429, "too many wrong tokens from this address; wait a minute")
        name = matching_name(given_token(request), self._digests)
        if name is None:
            blocked = self._failures.is_blocked(peer, now)
            self._failures.note_failure(peer, now)
            return Refusal(429, "too many wrong tokens; wait a minute") if blocked else Refusal(401, NO_TOKEN)
        request.access = ClientAccess(name, self._limits.get(name))
        return None

    # What a key may use

    def check_limits(self, access: ClientAccess, model: str, memory: GatewayMemory, now: float) -> None:
        """Raise where a key may not ask for this, or has used up what it may use. Counts the request."""
        limits = access.limits
        if limits is None:
            return
        self.check_model(access, model)
        self._check_rate(access.name, limits, now)
        self._check_budget(access.name, limits, memory, now)

    def check_model(self, access: ClientAccess, model: str) -> None:
        """Raise where a key may not ask for a model."""
        limits = access.limits
        if limits is not None and not is_allowed(model, limits.models):
            raise ProviderError(
                f"the key {access.name!r} may not ask for {model!r}; use one of {', '.join(limits.models)}",
                kind="not_found",
                status=404,
            )

    def _check_rate(self, name: str, limits: GatewayKeySettings, now: float) -> None:
        minute = int(now // 60)
        at, requests, tokens = self._rates.get(name, (minute, 0, 0))
        if at != minute:
            requests = tokens = 0
        wait = 60.0 - now % 60
        if limits.requests_per_minute is not None and requests >= limits.requests_per_minute:
            raise _rate_error(f"{limits.requests_per_minute} requests", name, wait)
        if limits.tokens_per_minute is not None and tokens >= limits.tokens_per_minute:
            raise _rate_error(f"{limits.tokens_per_minute} tokens", name, wait)
        self._rates[name] = (minute, requests + 1, tokens)

    def _check_budget(self, name: str, limits: GatewayKeySettings, memory: GatewayMemory, now: float) -> None:
        if limits.max_cost is None and limits.max_tokens is None:
            return
        _, tokens, cost = self._spent_in_period(name, limits, memory, now)
        if limits.max_cost is not None and cost >= limits.max_cost:
            raise _budget_error(f"${limits.max_cost:g}", name, limits.period)
        if limits.max_tokens is not None and tokens >= limits.max_tokens:
            raise _budget_error(f"{limits.max_tokens} tokens", name, limits.period)

    def _spent_in_period(
        self, name: str, limits: GatewayKeySettings, memory: GatewayMemory, now: float
    ) -> tuple[float, int, float]:
        start = period_start(limits.period, now)
        spent = self._spent.get(name)
        if spent is None or spent[0] != start:
            _, tokens, cost = memory.usage_of(name, start)
            spent = self._spent[name] = (start, tokens, cost)
        return spent

    def budget_periods(self, now: float) -> list[tuple[str, float]]:
        """The keys that have a budget, and when its period began."""
        return [
            (name, period_start(limits.period, now))
            for name, limits in self._limits.items()
            if limits.max_cost is not None or limits.max_tokens is not None
        ]

    def set_spent(self, name: str, start: float, tokens: int, cost: float) -> None:
        """What a key has used since a time, at this gateway and at others."""
        self._spent[name] = (start, tokens, cost)

    def note_use(self, name: str, tokens: int, cost: float, now: float) -> None:
        """Count what a request has used."""
        minute = int(now // 60)
        at, requests, used = self._rates.get(name, (minute, 0, 0))
        self._rates[name] = (minute, requests, used + tokens) if at == minute else (minute, 0, tokens)
        if (spent := self._spent.get(name)) is not None:
            self._spent[name] = (spent[0], spent[1] + tokens, spent[2] + cost)


def period_start(period: str, now: float) -> float:
    """When the current day or month began, in UTC; 0 for a budget without end."""
    if period == "total":
        return 0.0
    today = time.gmtime(now)
    day = 1 if period == "month" else today.tm_mday
    seconds = now % 86400 + (today.tm_mday - day) * 86400
    return now - seconds


def _rate_error(limit: str, name: str, wait: float) -> ProviderError:
    return ProviderError(
        f"the key {name!r} may use {limit} a minute; try again in {wait:.0f} s",
        kind="rate_limit",
        status=429,
        retry_after=wait,
    )


def _budget_error(limit: str, name: str, period: str) -> ProviderError:
    within = "in all" if period == "total" else f"a {period}"
    return ProviderError(
        f"the key {name!r} has used up its {limit} {within}; raise it in [gateway.keys.{name}]",
        kind="quota",
        status=429,
    )


def _token_of(name: str, key: GatewayKeySettings, environment: Mapping[str, str]) -> str:
    token = environment.get(key.token_variable, "") if key.token_variable else ""
    if key.token_file:
        try:
            token = Path(key.token_file).expanduser().read_text()
        except OSError as error:
            raise UsageError(
                f"[gateway.keys.{name}]: {key.token_file} cannot be read: {error.strerror}; check token_file"
            ) from None
    if len(token.strip()) < 16:
        raise UsageError(
            f"[gateway.keys.{name}] has no token of 16 characters or more; set token_variable or token_file"
        )
    return token.strip()


def own_token(environment: Mapping[str, str], path: Path) -> tuple[str, bool]:
    """The gateway's own token, and whether it was made just now."""
    if token := environment.get(TOKEN, "").strip():
        return token, False
    if path.exists():
        return path.read_text().strip(), False
    token = f"turnout-{os.urandom(32).hex()}"
    write_private(path, token + "\n")
    return token, True
