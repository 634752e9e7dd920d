"""DeepSeek: chat completions that want their reasoning back; R1 must never get it."""

from msgspec.structs import replace

from ..wire.chat.dialect import ChatDialect
from .families import DEEPSEEK, R1
from .provider import Provider

THINKING = replace(
    ChatDialect(
        reasoning_field="reasoning_content",
        thinking_switch="type",
        efforts=("low", "high", "max"),
        max_stops=16,
        text_parts=False,
        media=(),
        strict_tools=False,  # only under /beta
    ),
    **DEEPSEEK,
)
CHAT = replace(THINKING, thinks_unasked=False)

PROVIDER = Provider(
    name="deepseek",
    aliases=("deepseek-chat",),
    base_url="https://api.deepseek.com",
    base_url_variable="DEEPSEEK_BASE_URL",
    key_variables=("DEEPSEEK_API_KEY",),
    dialect=CHAT,
    overrides=(
        ("*r1*", replace(CHAT, **R1)),
        ("*reasoner*", THINKING),
        ("deepseek-v[4-9]*", THINKING),
    ),
)
