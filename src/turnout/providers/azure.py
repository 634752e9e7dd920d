"""Azure OpenAI: OpenAI's Chat and Responses at an address of your own.

`azure` and `azure-responses` use the path `/openai/v1`, which needs no version. The endpoint
`azure@deployments` uses the older one, with the deployment and the version of the API in the path.
A key goes in the header `api-key`; a token of Microsoft Entra is sent as a bearer.
"""

from typing import Any

from ..wire.responses.dialect import ResponsesDialect
from .hosted_forms import AZURE
from .openai import CHAT, OVERRIDES
from .provider import Blank, Provider

# The older path takes a version; this is the last one of the kind that Azure calls generally available.
API_VERSION = "2024-10-21"
HOST = "https://RESOURCE.openai.azure.com"

BLANKS = (
    Blank(HOST, "azure_endpoint", ("AZURE_OPENAI_ENDPOINT",)),
    Blank("RESOURCE", "resource", ("AZURE_OPENAI_RESOURCE", "AZURE_RESOURCE_NAME")),
)
VERSION = Blank("VERSION", "api_version", ("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"), API_VERSION)
ACCOUNT: dict[str, Any] = {
    "family": "openai",
    "base_url": f"{HOST}/openai/v1",
    "base_url_variable": "AZURE_OPENAI_BASE_URL",
    "key_variables": ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
    "auth": "api-key",
    "blanks": BLANKS,
    "spellings": (("/openai/v1/openai/v1", "/openai/v1"),),  # some write the endpoint with its path
}

PROVIDER = Provider(
    name="azure",
    aliases=("azure-openai",),
    dialect=CHAT,
    overrides=OVERRIDES,
    variants={
        "deployments": {
            "base_url": f"{HOST}/openai",
            "path": "/deployments/{model}/chat/completions?api-version=VERSION",
            "blanks": (*BLANKS, VERSION),
            "spellings": (("/openai/openai", "/openai"), ("/openai/v1", "/openai")),
        }
    },
    **ACCOUNT,
)

RESPONSES = Provider(
    name="azure-responses",
    aliases=("azure-openai-responses",),
    dialect=ResponsesDialect(hosted=AZURE),
    **ACCOUNT,
)
