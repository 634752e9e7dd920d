"""SambaNova: open models in the cloud, in OpenAI's Chat."""

from .families import families
from .hosts import PLAIN
from .provider import Provider

PROVIDER = Provider(
    name="sambanova",
    base_url="https://api.sambanova.ai/v1",
    base_url_variable="SAMBANOVA_BASE_URL",
    key_variables=("SAMBANOVA_API_KEY",),
    dialect=PLAIN,
    overrides=families(PLAIN),
)
