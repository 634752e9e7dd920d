"""Hosts of open models in the cloud: OpenAI's Chat, by family where the weights insist."""

from ..rendering.image_size import ImageLimit
from ..wire.chat.dialect import USUAL_OPTIONS, ChatDialect
from .families import families
from .hosted_forms import GROQ as GROQ_TOOLS
from .provider import Provider

PLAIN = ChatDialect(takes=(*USUAL_OPTIONS, "top_k"))
EFFORT = ChatDialect(
    thinking_switch="effort",
    provider_tools=("browser_search", "code_interpreter"),
    hosted=GROQ_TOOLS,
    service_tiers=("auto", "on_demand", "flex", "performance"),
)

GROQ = Provider(
    name="groq",
    base_url="https://api.groq.com/openai/v1",
    base_url_variable="GROQ_BASE_URL",
    key_variables=("GROQ_API_KEY",),
    images=ImageLimit(characters=4 * 1024 * 1024, pixels=33_177_600),  # as its guide to vision says
    dialect=EFFORT,
    overrides=families(EFFORT),
)
TOGETHER = Provider(
    name="together",
    aliases=("togetherai", "together-ai"),
    base_url="https://api.together.xyz/v1",
    base_url_variable="TOGETHER_BASE_URL",
    key_variables=("TOGETHER_API_KEY",),
    dialect=PLAIN,
    overrides=families(PLAIN),
)
FIREWORKS = Provider(
    name="fireworks",
    aliases=("fireworks-ai", "fireworksai"),
    base_url="https://api.fireworks.ai/inference/v1",
    base_url_variable="FIREWORKS_BASE_URL",
    key_variables=("FIREWORKS_API_KEY",),
    dialect=PLAIN,
    overrides=families(PLAIN),
)
CEREBRAS = Provider(
    name="cerebras",
    base_url="https://api.cerebras.ai/v1",
    base_url_variable="CEREBRAS_BASE_URL",
    key_variables=("CEREBRAS_API_KEY",),
    dialect=ChatDialect(
        max_tokens_field="max_completion_tokens", media=(), takes=("logprobs", "user"), refuses_unknown=True
    ),
)
