"""OpenAI: Chat Completions under `openai`, Responses under `openai-responses`."""

from msgspec.structs import replace

from ..wire.chat.dialect import USUAL_OPTIONS, ChatDialect
from ..wire.responses.dialect import ResponsesDialect
from ..wire.shared.limits import OPENAI_TIERS
from .hosted_forms import OPENAI
from .provider import Provider

CHAT = ChatDialect(
    starts_with_user=False,
    max_tokens_field="max_completion_tokens",
    max_stops=4,
    thinking_switch="effort",
    takes=(*USUAL_OPTIONS, "metadata", "cache_key", "cache_ttl", "verbosity"),
    takes_search=False,
    service_tiers=OPENAI_TIERS,
    metadata_needs_store=True,
    refuses_unknown=True,
)
REASONING = replace(CHAT, system_role="developer")
# OAC-15: the first of them refuse the role developer, and system too.
FIRST_REASONING = replace(CHAT, system_role="user", system_anywhere=False)
OVERRIDES = (
    # OAC-17: the models that search have it in their names; the others refuse to be asked.
    ("gpt-5*-search*", replace(REASONING, takes_search=True)),
    ("*-search*", replace(CHAT, takes_search=True)),
    ("o1-mini*", FIRST_REASONING),
    ("o1-preview*", FIRST_REASONING),
    ("o[1-9]*", REASONING),
    ("gpt-[5-9]*", REASONING),
)

PROVIDER = Provider(
    name="openai",
    aliases=("openai-chat", "chat", "chat-completions", "openai-chat-completions", "openai-completions"),
    base_url="https://api.openai.com/v1",
    base_url_variable="OPENAI_BASE_URL",
    key_variables=("OPENAI_API_KEY",),
    dialect=CHAT,
    overrides=OVERRIDES,
)

RESPONSES = Provider(
    name="openai-responses",
    family="openai",
    aliases=("responses", "openai-response", "codex", "chatgpt"),
    base_url="https://api.openai.com/v1",
    base_url_variable="OPENAI_BASE_URL",
    key_variables=("OPENAI_API_KEY",),
    dialect=ResponsesDialect(hosted=OPENAI),
)
