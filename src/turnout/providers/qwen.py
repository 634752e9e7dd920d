"""Qwen (DashScope): thinking by a switch of its own, and only in streamed answers."""

from msgspec.structs import replace

from ..wire.chat.dialect import USUAL_OPTIONS, ChatDialect
from .provider import Provider

CHAT = ChatDialect(
    thinking_switch="enable",
    thinking_needs_stream=True,
    takes=(*USUAL_OPTIONS, "top_k"),
    forces_while_thinking=False,
)
# The open weights of Qwen3 think unless they are told not to, and refuse to without a stream (QWN-03).
HYBRID = replace(CHAT, thinks_unasked=True)

PROVIDER = Provider(
    name="qwen",
    aliases=("dashscope", "alibaba", "qwen-dashscope", "aliyun"),
    base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    base_url_variable="DASHSCOPE_BASE_URL",
    key_variables=("DASHSCOPE_API_KEY", "QWEN_API_KEY"),
    dialect=CHAT,
    overrides=(("qwen3-[0-9]*b", HYBRID),),
)
