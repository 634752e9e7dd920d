"""Z.ai: GLM over Chat Completions."""

from ..wire.chat.dialect import ChatDialect
from .hosted_forms import ZAI
from .provider import Provider

PROVIDER = Provider(
    name="zai",
    aliases=("z.ai", "zhipu", "zhipuai", "glm", "bigmodel"),
    base_url="https://api.z.ai/api/paas/v4",
    base_url_variable="ZAI_BASE_URL",
    key_variables=("ZAI_API_KEY", "ZHIPU_API_KEY"),
    dialect=ChatDialect(
        reasoning_field="reasoning_content",
        thinking_switch="type",
        thinks_unasked=True,
        takes_parallel=False,
        provider_tools=("web_search", "retrieval"),
        hosted=ZAI,
    ),
)
