"""Cohere: its Chat, version 2. Version 1 is another API, which turnout does not speak."""

from ..wire.cohere.dialect import CohereDialect
from .provider import Provider

# The SDK's words on `tool_choice`: "only compatible with models Command-r7b and newer".
FIRST = CohereDialect(takes_choice=False)

PROVIDER = Provider(
    name="cohere",
    aliases=("cohere-v2", "cohere-chat"),
    base_url="https://api.cohere.com",
    base_url_variable="COHERE_BASE_URL",
    key_variables=("COHERE_API_KEY", "CO_API_KEY"),
    dialect=CohereDialect(),
    overrides=(("command-r-*", FIRST), ("command-r", FIRST), ("command-light*", FIRST), ("command", FIRST)),
)
