"""Every provider at once: a request goes to the provider of its URL, and the exchange is kept.

A URL belongs to the provider whose base URL it begins with, or to the one that its path
names first (`/mistral/v1/chat/completions`), or else to the one that defines the protocol.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from ..providers import PROVIDERS
from ..wire.check import Problem
from .ollama_models import models_answer
from .provider import ScriptSource, SimulatedAnswer, SimulatedProvider, source_of
from .request import route_of
from .script import Step

HOME = {
    "chat": "openai",
    "responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama",
    "cohere": "cohere",
    "converse": "bedrock",
    "invoke": "bedrock",
}
"""The provider that defines each protocol."""

DOMAINS = {
    ".openai.azure.com": "azure",
    ".amazonaws.com": "bedrock",
    "aiplatform.googleapis.com": "vertex",
    "cloudcode-pa.googleapis.com": "gemini",
}
"""Domains in which every customer has another host."""


class SimulatedExchange(Struct, frozen=True):
    """One request and its answer."""

    provider: str
    protocol: str
    model: str
    url: str
    headers: dict[str, str]
    body: bytes
    status: int
    problems: tuple[Problem, ...] = ()
    step: Step | None = None
    answered: bytes = b""

    @property
    def is_accepted(self) -> bool:
        """Whether the request passed all checks; the script may still have failed it."""
        return self.step is not None


class Simulation:
    """All simulated providers, with one script, or one each: `{"openai": […], "anthropic": […]}`.

    `keeps` bounds how many exchanges are kept, for runs that are long.
    """

    def __init__(
        self,
        source: Any,
        *,
        keys: Mapping[str, str] | Collection[str] | None = None,
        asks_for_key: bool = True,
        provider: str = "",
        seed: str = "turnout",
        keeps: int | None = None,
    ) -> None:
        by_provider = source if isinstance(source, Mapping) else {}
        self._sources = {name: source_of(given) for name, given in by_provider.items()}
        self._source = source_of(() if isinstance(source, Mapping) else source)
        self._options: dict[str, Any] = {"keys": keys, "asks_for_key": asks_for_key, "seed": seed}
        self._provider = provider  # gets every request, with any URL
        self._providers: dict[str, SimulatedProvider] = {}
        self.exchanges: deque[SimulatedExchange] = deque(maxlen=keeps)

    @property
    def refusals(self) -> list[SimulatedExchange]:
        """The requests that a provider refused."""
        return [exchange for exchange in self.exchanges if exchange.problems]

    @property
    def steps_left(self) -> int:
        """How many steps of the scripts were not asked for yet; a function that answers has none."""
        sources = (self._source, *self._sources.values())
        return sum(each.steps_left for each in sources if isinstance(each, ScriptSource))

    def provider(self, name: str) -> SimulatedProvider:
        """The simulated provider of this name."""
        if name not in self._providers:
            source = self._sources.get(name, self._source)
            self._providers[name] = SimulatedProvider(name, source, **self._options)
        return self._providers[name]

    def answer(self, url: str, headers: Mapping[str, str], body: bytes) -> SimulatedAnswer:
        """The answer to this request of its provider."""
        if (told := models_answer(url)) is not None:  # about models: no exchange with one
            return told
        name = self._provider or provider_of(url)
        answer = self.provider(name).answer(url, headers, body)
        found = route_of(url)
        self.exchanges.append(
            SimulatedExchange(
                provider=name,
                protocol=found.protocol if found else "",
                model=answer.asked.model if answer.asked else "",
                url=url,
                headers=dict(headers),
                body=body,
                status=answer.status,
                problems=answer.problems,
                step=answer.step,
                answered=answer.body,
            )
        )
        return answer


def provider_of(url: str) -> str:
    """The provider that a URL belongs to."""
    split = urlsplit(url)
    found = route_of(url)
    place = f"{split.netloc}{split.path}"
    hosted = next((name for base, name in _base_urls() if place.startswith(base)), "")
    domain = next((name for domain, name in DOMAINS.items() if split.netloc.endswith(domain)), "")
    named = _provider_names().get(split.path.strip("/").partition("/")[0], "")
    name = hosted or domain or named or (HOME.get(found.protocol, found.protocol) if found else "openai")
    apart = f"{name}-responses"  # two names of one account
    return apart if apart in PROVIDERS and found and found.protocol == "responses" else name


@cache
def _base_urls() -> tuple[tuple[str, str], ...]:
    """The base URLs of providers, the longest first."""
    places = {}
    for provider in reversed(PROVIDERS.values()):
        split = urlsplit(provider.base_url)
        places[f"{split.netloc}{split.path}"] = provider.name
    return tuple(sorted(places.items(), key=lambda row: -len(row[0])))


@cache
def _provider_names() -> dict[str, str]:
    names = {provider.name: provider.name for provider in PROVIDERS.values()}
    for provider in PROVIDERS.values():
        names |= dict.fromkeys(provider.aliases, provider.name)
    del names["chat"], names["responses"]  # these are also parts of paths
    return names
