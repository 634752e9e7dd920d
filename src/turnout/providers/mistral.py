"""Mistral: nine-character ids, results by name, and never a user right after a tool."""

from msgspec.structs import replace

from ..rendering.image_size import ImageLimit
from ..wire.chat.dialect import ChatDialect
from .families import MISTRAL, OLD_MISTRAL, OLD_MISTRAL_NAMES
from .provider import Provider

CHAT = replace(
    ChatDialect(
        reasoning_field="chunks",
        required_word="any",
        stream_usage=False,
        seed_field="random_seed",
        max_temperature=1.0,
        media=("image/",),
        reads=("application/pdf",),
        document_part="document_url",
        takes=("frequency_penalty", "presence_penalty", "metadata", "cache_key"),
        also_knows=("reasoning_effort",),
        refuses_unknown=True,
    ),
    **MISTRAL,
)

PROVIDER = Provider(
    name="mistral",
    aliases=("mistralai", "mistral-chat"),
    base_url="https://api.mistral.ai/v1",
    base_url_variable="MISTRAL_BASE_URL",
    key_variables=("MISTRAL_API_KEY",),
    images=ImageLimit(characters=10 * 1024 * 1024 * 4 // 3),  # 10 MB a file, as its guide to vision says
    dialect=CHAT,
    overrides=tuple((name, replace(CHAT, **OLD_MISTRAL)) for name in OLD_MISTRAL_NAMES),
)
