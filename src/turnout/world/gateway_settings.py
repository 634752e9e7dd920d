"""The `[gateway]` part of the user's configuration: which model a name means, and who may use how much."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Money: TypeAlias = Annotated[float, Meta(ge=0)]


class GatewayKeySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """One key of a client: where its token is, what it may ask for, and how much of it.

    The token is the value of a variable or the content of a file, so that the configuration holds no secret.
    """

    token_variable: str = ""
    token_file: str = ""
    models: tuple[str, ...] = ()  # names or patterns that it may ask for; () means all
    max_cost: Money | None = None  # US dollars in `period`
    max_tokens: Count | None = None  # in `period`
    period: Literal["day", "month", "total"] = "month"
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None


class GatewaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything in `[gateway]`. It counts only in the user's own file."""

    default: str | tuple[str, ...] = ""  # the target of a model name that nothing else matches
    models: dict[str, str | tuple[str, ...]] = field(default_factory=dict)  # a list is an order of failover
    hosts: tuple[str, ...] = ()  # names besides the loopback ones that a Host header may have
    keys: dict[str, GatewayKeySettings] = field(default_factory=dict)
    keep: bool = False  # store conversations as sessions
    cache_mib: Count = 64  # memory for histories
    store_mib: Count = 256  # the file for what clients cannot carry, and for requests
    sealing_key_file: str = ""  # one key for several hosts; also $TURNOUT_GATEWAY_SEALING_KEY
    tls_certificate: str = ""
    tls_key: str = ""
