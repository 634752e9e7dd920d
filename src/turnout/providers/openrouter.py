"""OpenRouter: many families behind one door, and their reasoning as `reasoning_details`."""

from ..wire.chat import ChatDialect
from .families import families
from .provider import Provider

CHAT = ChatDialect(reasoning_field="reasoning", thinking_switch="reasoning")

PROVIDER = Provider(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    base_url_variable="OPENROUTER_BASE_URL",
    key_variables=("OPENROUTER_API_KEY",),
    dialect=CHAT,
    overrides=families(CHAT),
)
