"""Anthropic: Claude by key, or with an OAuth token at the endpoint `oauth`."""

from ..rendering.image_size import ImageLimit
from ..wire.anthropic.dialect import AnthropicDialect
from .hosted_forms import ANTHROPIC
from .provider import Provider

# "image exceeds 5 MB maximum", counted in base64, and "exceed max allowed size: 8000 pixels". Some
# accounts were given 10 MB since; the smaller limit holds for all.
# "exceed max allowed size for many-image requests: 2000 pixels", with more than 20 of them.
IMAGES = ImageLimit(characters=5 * 1024 * 1024, edge=8_000, many=20, edge_of_many=2_000)
VERSION = {"anthropic-version": "2023-06-01"}

PROVIDER = Provider(
    name="anthropic",
    aliases=("claude", "anthropic-messages", "messages"),
    base_url="https://api.anthropic.com",
    base_url_variable="ANTHROPIC_BASE_URL",
    key_variables=("ANTHROPIC_API_KEY",),
    auth="x-api-key",
    trial_path="/v1/models",
    headers=VERSION,
    images=IMAGES,
    dialect=AnthropicDialect(hosted=ANTHROPIC),
    variants={
        "oauth": {
            "auth": "bearer",
            "key_variables": ("ANTHROPIC_AUTH_TOKEN",),
            "headers": {**VERSION, "anthropic-beta": "oauth-2025-04-20"},
        }
    },
)
