"""Servers on your own machine: chat templates that insist on alternation, and no keys."""

from msgspec.structs import replace

from ..wire.chat.dialect import USUAL_OPTIONS, ChatDialect
from ..wire.ollama.dialect import OllamaDialect
from .families import families
from .provider import Provider

TEMPLATE = ChatDialect(
    alternates=True,
    system_anywhere=False,
    schema="plain",
    content_when_empty="",
    media=("image/",),
    takes=(*USUAL_OPTIONS, "top_k"),
)
ANY = ChatDialect(content_when_empty="", echoes_details=True)
VLLM_CHAT = replace(TEMPLATE, reasoning_field="reasoning")

OLLAMA_CHAT = replace(TEMPLATE, reasoning_field="reasoning", think_tags=True, takes=USUAL_OPTIONS)
LLAMACPP_CHAT = replace(
    TEMPLATE,
    reasoning_field="reasoning_content",
    think_tags=True,
    not_with_tools=("grammar", "logprobs", "top_logprobs"),
)

OLLAMA = Provider(
    name="ollama",
    base_url="http://127.0.0.1:11434",
    base_url_variable="OLLAMA_BASE_URL",
    key_variables=("OLLAMA_API_KEY",),
    dialect=OllamaDialect(),
    variants={
        "chat": {
            "base_url": "http://127.0.0.1:11434/v1",
            "dialect": OLLAMA_CHAT,
            "overrides": families(OLLAMA_CHAT),
        }
    },
)
VLLM = Provider(
    name="vllm",
    base_url="http://127.0.0.1:8000/v1",
    base_url_variable="VLLM_BASE_URL",
    key_variables=("VLLM_API_KEY",),
    dialect=VLLM_CHAT,
    overrides=families(VLLM_CHAT),
)
LLAMACPP = Provider(
    name="llamacpp",
    serves_one=True,
    aliases=("llama.cpp", "llama-cpp", "llama-server"),
    base_url="http://127.0.0.1:8080/v1",
    base_url_variable="LLAMACPP_BASE_URL",
    key_variables=("LLAMACPP_API_KEY",),
    dialect=LLAMACPP_CHAT,
    overrides=families(LLAMACPP_CHAT),
)
LMSTUDIO = Provider(
    name="lmstudio",
    serves_one=True,
    aliases=("lm-studio", "lm studio"),
    base_url="http://127.0.0.1:1234/v1",
    base_url_variable="LMSTUDIO_BASE_URL",
    key_variables=("LMSTUDIO_API_KEY",),
    dialect=replace(TEMPLATE, think_tags=True),
    overrides=families(replace(TEMPLATE, think_tags=True)),
)
COMPATIBLE = Provider(
    name="compatible",
    serves_one=True,
    aliases=("openai-compatible", "openai-compat", "custom", "local", "gateway"),
    base_url="http://127.0.0.1:8000/v1",
    base_url_variable="COMPATIBLE_BASE_URL",
    key_variables=("COMPATIBLE_API_KEY",),
    dialect=ANY,
    overrides=(("*gemini-[3-9]*", replace(ANY, unreasoned_calls="extra_content")), *families(ANY)),
)
