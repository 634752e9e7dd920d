"""Amazon Bedrock: models of many makers through Converse, and Claude through InvokeModel at `bedrock@invoke`.

What the models of each maker take is data, by patterns of their names. A name may begin with a part
of the world (`us.anthropic.claude-…`), and may be an ARN that ends with such a name.
"""

from typing import Any

from msgspec.structs import replace

from ..rendering.image_size import ImageLimit
from ..wire.chat.dialect import ChatDialect
from ..wire.converse.dialect import ConverseDialect
from ..wire.invoke.dialect import InvokeDialect
from .answer_forms import CLAUDE_ON_BEDROCK
from .families import families
from .provider import Blank, Provider

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
FILES = (
    "application/pdf",
    "text/",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.",
)
WITHOUT_TOOLS: dict[str, Any] = {"choices": (), "model_facts": {"tools": False}}

# `reads` says all that a model reads, by its maker. What models of other makers read is unknown.
PLAIN = ConverseDialect(media=())
NO_TOOLS = replace(PLAIN, **WITHOUT_TOOLS)
OLD = replace(NO_TOOLS, takes_system=False)

CLAUDE = replace(
    PLAIN,
    choices=("auto", "any", "tool"),
    thinking="claude",
    returns_thinking="signed",
    top_k_field="top_k",
    media_in_results=True,
    marks_failed_results=True,
    reads=(*IMAGES, *FILES),
)
EVERYWHERE = ("tools", "system", "messages")
CACHING_CLAUDE = replace(CLAUDE, caching=EVERYWHERE)
# Since Claude 4.5 the cache can last an hour. Some of these take strict tools and a schema of the answer.
NEW_CLAUDE = replace(CACHING_CLAUDE, ttls=("5m", "1h"))
STRICT_CLAUDE = replace(NEW_CLAUDE, takes_strict=True)

# Nova reads from S3, and its cache holds no tools. A file is refused inside a result ("extraneous key").
NOVA = replace(
    PLAIN,
    choices=("auto", "any", "tool"),
    caching=("system", "messages"),
    top_k_field="inferenceConfig.topK",
    marks_failed_results=True,
    links=r"s3://",
    reads=(*IMAGES, *FILES, "video/"),
)
NOVA_MICRO = replace(NOVA, links="", reads=())
NOVA_2 = replace(NOVA, thinking="nova")

LLAMA = replace(PLAIN, choices=(), reads=FILES)
LLAMA_WITH_EYES = replace(LLAMA, reads=(*IMAGES, *FILES))
MISTRAL = replace(PLAIN, id_format="mistral", choices=("auto", "any"), top_k_field="top_k", reads=FILES)
PIXTRAL = replace(MISTRAL, reads=(*IMAGES, *FILES))
COHERE = replace(PLAIN, top_k_field="k", reads=FILES)
GPT_OSS = replace(PLAIN, thinking="effort", takes_strict=True)
KIMI = replace(PLAIN, takes_strict=True)

OVERRIDES = (
    *((f"*claude-{name}*", OLD) for name in ("v2", "instant")),
    *((f"*claude-{name}*", CLAUDE) for name in ("3-haiku", "3-sonnet", "3-opus", "3-5-sonnet")),
    *((f"*claude-{name}*", CACHING_CLAUDE) for name in ("3-5-haiku", "3-7", "opus-4-1", "opus-4-2025")),
    ("*claude-sonnet-4-2025*", CACHING_CLAUDE),
    *((f"*claude-{name}*", STRICT_CLAUDE) for name in CLAUDE_ON_BEDROCK),
    ("*claude*", NEW_CLAUDE),
    ("*nova-micro*", NOVA_MICRO),
    ("*nova-2*", NOVA_2),
    ("*nova*", NOVA),
    ("*titan*", OLD),
    ("*llama2*", OLD),
    *((f"*{name}*", NO_TOOLS) for name in ("llama3-8b", "llama3-70b")),
    *((f"*{name}*", LLAMA_WITH_EYES) for name in ("llama4", "llama3-2-11b", "llama3-2-90b")),
    ("*llama*", LLAMA),
    *((f"*{name}*", OLD) for name in ("mistral-7b", "mixtral", "command-text", "command-light", "j2-")),
    *((f"*{name}*", PIXTRAL) for name in ("pixtral", "mistral-small-2", "ministral", "mistral-large-3")),
    ("*mistral*", MISTRAL),
    ("*command-r*", COHERE),
    ("*jamba-instruct*", NO_TOOLS),
    ("*deepseek*r1*", NO_TOOLS),
    ("*palmyra*", replace(PLAIN, choices=("auto",))),
    ("*gpt-oss*", GPT_OSS),
    ("*kimi*", KIMI),
    ("*minimax*", replace(PLAIN, returns_thinking="any")),
)

# InvokeModel takes a body of the maker's own form. We speak Claude's.
OTHERS = tuple(
    f"*{name}*"
    for name in (
        *("nova", "titan", "llama", "mistral", "mixtral", "pixtral", "ministral", "command", "jamba", "j2-"),
        *("deepseek", "gpt-oss", "qwen", "minimax", "palmyra", "kimi", "gemma", "glm", "nemotron"),
    )
)

# "tools.0.custom.strict: Extra inputs are not permitted", on the models that Converse says it of.
INVOKE = (
    *((f"*claude-{name}*", InvokeDialect()) for name in CLAUDE_ON_BEDROCK),
    ("*", InvokeDialect(takes_strict=False)),
)

CHAT = ChatDialect(thinking_switch="effort")

REGION = Blank("REGION", "region", ("AWS_REGION", "AWS_DEFAULT_REGION"), "us-east-1")

PROVIDER = Provider(
    name="bedrock",
    aliases=("amazon-bedrock", "aws-bedrock", "aws", "bedrock-converse", "converse"),
    base_url="https://bedrock-runtime.REGION.amazonaws.com",
    base_url_variable="BEDROCK_BASE_URL",
    key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    trial_path="",
    token_source="aws",
    blanks=(REGION,),
    # 3.75 MB before base64, and 8000 pixels an edge, as its guide to Converse says.
    images=ImageLimit(characters=5 * 1024 * 1024, edge=8_000),
    dialect=PLAIN,
    overrides=OVERRIDES,
    variants={
        "invoke": {
            "family": "anthropic",
            "dialect": InvokeDialect(),
            "overrides": INVOKE,
            "unspoken_models": OTHERS,
        },
        # Open models through OpenAI's Chat, at another path of the same host.
        "openai": {
            "base_url": "https://bedrock-runtime.REGION.amazonaws.com/openai/v1",
            "dialect": CHAT,
            "overrides": families(CHAT),
        },
    },
)
