"""Anthropic: Claude by key, or with an OAuth token at the endpoint `oauth`."""

from ..wire.anthropic_fields import AnthropicDialect
from .provider import Provider

VERSION = {"anthropic-version": "2023-06-01"}

PROVIDER = Provider(
    name="anthropic",
    aliases=("claude", "anthropic-messages", "messages"),
    base_url="https://api.anthropic.com",
    base_url_variable="ANTHROPIC_BASE_URL",
    key_variables=("ANTHROPIC_API_KEY",),
    auth="x-api-key",
    headers=VERSION,
    dialect=AnthropicDialect(),
    variants={
        "oauth": {
            "auth": "bearer",
            "key_variables": ("ANTHROPIC_AUTH_TOKEN",),
            "headers": {**VERSION, "anthropic-beta": "oauth-2025-04-20"},
        }
    },
)
