"""Azure OpenAI: OpenAI's Chat at an address of your own."""

from .openai import CHAT, OVERRIDES
from .provider import Provider

PROVIDER = Provider(
    name="azure",
    family="openai",
    aliases=("azure-openai",),
    base_url="https://RESOURCE.openai.azure.com/openai/v1",
    base_url_variable="AZURE_OPENAI_BASE_URL",
    key_variables=("AZURE_OPENAI_API_KEY",),
    auth="api-key",
    dialect=CHAT,
    overrides=OVERRIDES,
)
