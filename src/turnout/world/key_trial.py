"""Try a key before it is kept: one small request that costs nothing and needs the key."""

from __future__ import annotations

import time
from typing import Literal

from msgspec import Struct

from ..errors import ProviderError
from ..plain import loads
from ..providers import Provider
from ..wire.failure.read_failure import failure
from .keys import key_headers
from .ports import Outgoing, Transport
from .secrets import without_secrets
from .shared_http import SharedHttp
from .small_request import SmallAnswer, send_small

SUBSCRIPTION_TOKENS = ("sk-ant-oat", "sk-ant-ort")

Verdict = Literal["works", "refused", "untried"]


class KeyTrial(Struct, frozen=True):
    """What came of it. `detail` is for people. `models`: how many models the key may use, if known."""

    verdict: Verdict
    detail: str
    models: int | None = None


async def try_key(provider: Provider, key: str, transport: Transport | None = None) -> KeyTrial:
    """Ask the provider for something that only a valid key gets: usually its list of models."""
    if provider.name == "anthropic" and key.startswith(SUBSCRIPTION_TOKENS):
        return KeyTrial(
            "refused",
            "this is the token of a Claude subscription, and its terms allow no other programs; "
            "make an API key in the Anthropic console",
        )
    if not provider.trial_path:
        return KeyTrial("untried", f"{provider.name} has no request that would try a key without cost")
    request = Outgoing("GET", provider.base_url + provider.trial_path, _headers(provider, key), b"")
    try:
        answer = await send_small(transport or SharedHttp(), request)
    except (OSError, ProviderError) as error:
        return KeyTrial("untried", without_secrets(str(error) or "no answer in time", [key]))
    return _judge_answer(provider, key, answer)


def _headers(provider: Provider, key: str) -> dict[str, str]:
    return {"accept": "application/json", **provider.headers, **key_headers(provider, key)}


def _judge_answer(provider: Provider, key: str, answer: SmallAnswer) -> KeyTrial:
    if answer.status < 400:
        return KeyTrial("works", f"{provider.name} accepts the key", _count_models(answer.body))
    error = failure(answer.status, answer.headers, answer.body, time.time())
    said = without_secrets(str(error), [key])
    if error.kind == "auth":
        return KeyTrial("refused", f"{provider.name} refuses the key: {said}")
    if answer.status in (402, 429):  # the server knows who asks, and has no time or no money left for them
        return KeyTrial("works", f"{provider.name} knows the key, and says: {said}")
    return KeyTrial("untried", f"{provider.name} did not try the key: {said}")


def _count_models(body: bytes) -> int | None:
    try:
        read = loads(body)
    except ValueError:
        return None
    if isinstance(read, dict):
        read = read.get("data", read.get("models"))
    return len(read) if isinstance(read, list) else None
