"""xAI: Grok over Chat Completions; its reasoning is shown, never taken back."""

from ..rendering.image_size import ImageLimit
from ..wire.chat.dialect import ChatDialect
from .provider import Provider

PROVIDER = Provider(
    name="xai",
    aliases=("grok", "x-ai"),
    base_url="https://api.x.ai/v1",
    base_url_variable="XAI_BASE_URL",
    key_variables=("XAI_API_KEY",),
    images=ImageLimit(characters=20 * 1024 * 1024 * 4 // 3),  # 20 MiB a file, as its guide to images says
    dialect=ChatDialect(
        schema="xai",
        max_tokens_field="max_completion_tokens",
        max_stops=4,
        thinking_switch="effort",
        content_when_empty="",
    ),
)
