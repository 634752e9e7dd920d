"""What a path asks for: one of four protocols, a list, or another page. Pure.

Gemini's clients name the model in the path, unescaped: the method follows the last colon, so a
model may hold colons and slashes.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Protocol: TypeAlias = Literal["chat", "responses", "anthropic", "gemini", ""]
Action: TypeAlias = Literal["reply", "count", "models", "model"]

GEMINI = ("/v1beta/models", "/v1/models")
GEMINI_METHODS: dict[str, tuple[Action, bool]] = {
    "generateContent": ("reply", False),
    "streamGenerateContent": ("reply", True),
    "countTokens": ("count", False),
}
POSTED: dict[str, tuple[Protocol, Action]] = {
    "/v1/chat/completions": ("chat", "reply"),
    "/v1/responses": ("responses", "reply"),
    "/v1/messages": ("anthropic", "reply"),
    "/v1/messages/count_tokens": ("anthropic", "count"),
}
FORMATS = {
    "chat": "openai-chat",
    "responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
"""The name of each protocol's messages for `ingest`."""


class GatewayRoute(Struct, frozen=True):
    """What is asked for. `streams` is None where the body says it."""

    protocol: Protocol
    action: Action
    model: str = ""
    streams: bool | None = None


def find_route(method: str, path: str, headers: dict[str, str] | None = None) -> GatewayRoute | int:
    """The route, or the status of a refusal: 404 for an unknown path, 405 for a known one."""
    path = path.rstrip("/") or "/"
    if (posted := POSTED.get(path)) is not None:
        return GatewayRoute(*posted) if method == "POST" else 405
    for base in GEMINI:
        if path.startswith(base + "/"):
            return _gemini_route(method, path.removeprefix(base + "/"), base, headers or {})
    if path in GEMINI:
        protocol = "gemini" if path == GEMINI[0] else list_protocol(headers or {})
        return GatewayRoute(protocol, "models") if method in ("GET", "HEAD") else 405
    return 404


def _gemini_route(method: str, rest: str, base: str, headers: dict[str, str]) -> GatewayRoute | int:
    model, colon, name = rest.rpartition(":")
    if colon and name in GEMINI_METHODS:
        action, streams = GEMINI_METHODS[name]
        return GatewayRoute("gemini", action, model, streams) if method == "POST" else 405
    if method not in ("GET", "HEAD"):
        return 404 if method == "POST" else 405
    protocol = "gemini" if base == GEMINI[0] else list_protocol(headers)
    return GatewayRoute(protocol, "model", rest)


def list_protocol(headers: dict[str, str]) -> Protocol:
    """The shape in which a caller of `/v1/models` reads a list."""
    return "anthropic" if "anthropic-version" in headers else "chat"


def protocol_of(path: str) -> Protocol:
    """The protocol in whose shape a refusal is told, also where the route is not valid."""
    if path.startswith("/v1/messages"):
        return "anthropic"
    if path.startswith("/v1/responses"):
        return "responses"
    if path.startswith("/v1beta/"):
        return "gemini"
    return "chat" if path.startswith("/v1/") else ""
