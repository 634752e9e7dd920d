"""Kimi (Moonshot): counts calls over the conversation, and wants its reasoning back with every call."""

from msgspec.structs import replace

from ..wire.chat.dialect import ChatDialect
from .families import KIMI, THINKING_KIMI
from .provider import Provider

CHAT = replace(
    ChatDialect(
        reasoning_field="reasoning_content",
        max_stops=5,
        thinking_switch="type",
        provider_tools=("builtin_function",),
    ),
    **KIMI,
)
THINKING = replace(CHAT, **THINKING_KIMI, pins_sampling=True)
ALWAYS_THINKING = replace(THINKING, stops_thinking=False)

PROVIDER = Provider(
    name="kimi",
    aliases=("moonshot", "moonshotai", "moonshot-kimi", "kimi-chat"),
    base_url="https://api.moonshot.ai/v1",
    base_url_variable="MOONSHOT_BASE_URL",
    key_variables=("MOONSHOT_API_KEY", "KIMI_API_KEY"),
    dialect=CHAT,
    overrides=(
        ("*thinking*", ALWAYS_THINKING),
        ("kimi-k2.[56]*", THINKING),
        ("kimi-k2.[7-9]*", ALWAYS_THINKING),
        ("kimi-k[3-9]*", ALWAYS_THINKING),
        ("kimi-latest*", THINKING),
    ),
)
