"""Replies that fail, at every target."""

from __future__ import annotations

from tests.simulate.targets import TARGETS

from turnout.simulate.provider import SimulatedProvider
from turnout.targets.request import url
from turnout.targets.target import find_target as target

HEADERS = {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}


def answered(name: str, step: object, *, streams: bool = True):  # type: ignore[no-untyped-def]
    """What the provider of this target does when the script says this."""
    place = target(name)
    provider = SimulatedProvider(place.provider.name, [step])
    return provider.answer(url(place, stream=streams), HEADERS, _body(name, streams))


def _body(name: str, streams: bool) -> bytes:
    model = target(name).model.encode()
    stream = b',"stream":true' if streams else b""
    if TARGETS[name] == "ollama" and not streams:  # it streams unless it is told not to
        stream = b',"stream":false'
    match TARGETS[name]:
        case "gemini":
            return b'{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
        case "anthropic" if target(name).provider.name == "vertex":
            said = b'"messages":[{"role":"user","content":"hi"}]'
            return b'{"anthropic_version":"vertex-2023-10-16","max_tokens":100,' + said + stream + b"}"
        case "responses":
            return b'{"model":"%s","input":"hi"%s}' % (model, stream)
        case _:
            body = b'{"model":"%s","max_tokens":100,"messages":[{"role":"user","content":"hi"}]%s}'
            return body % (model, stream)
