"""The tools that each provider runs itself, in its own form: data, from its documentation and recordings.

A dialect names the forms that its server has. A server of which nothing is known runs no tools.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..hosted_tools import HostedForm

DOMAINS = {"allowed_domains": "allowed_domains", "blocked_domains": "blocked_domains"}
SERVER_TOOLS = ("claude-3-5-haiku*", "claude-3-7*", "claude-*-4*", "claude-*-[5-9]*")
# Recorded with 200: 20260120 on sonnet-4-6, 20250825 on haiku-4-5.
NEW_CODE = ("claude-opus-4-[5-9]*", "claude-sonnet-4-[5-9]*", "claude-opus-[5-9]*", "claude-sonnet-[5-9]*")
# Where earlier code ran: recorded with 200 as a field of the request. Ids begin so in all recordings.
CONTAINER = {"container": "container|id=container_"}

ANTHROPIC = (
    HostedForm(
        kind="web_search",
        type="web_search_20250305",
        name="web_search",
        models=SERVER_TOOLS,
        also=("web_search_20*",),
        options={**DOMAINS, "max_uses": "max_uses", "user_location": "user_location|approximate"},
    ),
    HostedForm(
        kind="url_context",
        type="web_fetch_20250910",
        name="web_fetch",
        models=SERVER_TOOLS,
        also=("web_fetch_20*",),
        options={
            **DOMAINS,
            "max_uses": "max_uses",
            "max_content_tokens": "max_content_tokens",
            "citations": "citations|switch",
        },
    ),
    HostedForm(
        kind="code_execution",
        type="code_execution_20260120",
        name="code_execution",
        models=NEW_CODE,
        also=("code_execution_20*",),
        request_options=CONTAINER,
    ),
    HostedForm(
        kind="code_execution",
        type="code_execution_20250825",
        name="code_execution",
        models=SERVER_TOOLS,
        request_options=CONTAINER,
    ),
    HostedForm(
        kind="mcp",
        type="mcp_toolset",
        models=SERVER_TOOLS,
        options={"label": "mcp_server_name", "allowed_tools": "configs|enabled"},
        entry_field="mcp_servers",
        entry_fixed={"type": "url"},
        entry_options={"url": "url", "label": "name", "authorization": "authorization_token"},
    ),
)

OPENAI = (
    HostedForm(
        kind="web_search",
        type="web_search",
        models=("gpt-4o*", "gpt-4.1", "gpt-4.1-2*", "gpt-4.1-mini*", "gpt-[5-9]*", "o[3-9]*"),
        also=("web_search_preview*", "web_search_20*"),
        options={
            "allowed_domains": "filters.allowed_domains",
            "user_location": "user_location|approximate",
            "context_size": "search_context_size",
        },
        # Without it a search names no page that it found.
        request={"include": ["web_search_call.action.sources"]},
    ),
    HostedForm(
        kind="code_execution",
        type="code_interpreter",
        options={"files": "container.file_ids", "container": "container|id=cntr_"},
        fixed={"container": {"type": "auto"}},
        request={"include": ["code_interpreter_call.outputs"]},
    ),
    HostedForm(
        kind="file_search",
        type="file_search",
        options={"stores": "vector_store_ids", "max_results": "max_num_results", "filters": "filters"},
        request={"include": ["file_search_call.results"]},
    ),
    HostedForm(
        kind="image_generation",
        type="image_generation",
        options={
            "size": "size",
            "quality": "quality",
            "format": "output_format",
            "background": "background",
            "model": "model",
        },
    ),
    HostedForm(
        kind="mcp",
        type="mcp",
        options={
            "url": "server_url",
            "label": "server_label",
            "authorization": "authorization",
            "headers": "headers",
            "allowed_tools": "allowed_tools",
            "description": "server_description",
            "approval": "require_approval",
        },
        # The API's default asks the client before every call; a declaration is the consent here.
        fixed={"require_approval": "never"},
    ),
)

# Recorded with 200 at Azure: the search under its older name. Models have the names of deployments there.
AZURE = (replace(OPENAI[0], type="web_search_preview", models=("*",), also=("web_search*",)), *OPENAI[1:])

SEARCHING_GEMINI = ("gemini-2*", "gemini-[3-9]*", "gemini-flash*", "gemini-pro-latest")
READING_GEMINI = ("gemini-2.5*", "gemini-[3-9]*", "gemini-flash*", "gemini-pro-latest")

GEMINI = (
    HostedForm(
        kind="web_search",
        type="googleSearch",
        is_key=True,
        models=SEARCHING_GEMINI,
        also=("googleSearchRetrieval", "google_search_retrieval"),
    ),
    HostedForm(kind="url_context", type="urlContext", is_key=True, models=READING_GEMINI),
    HostedForm(kind="code_execution", type="codeExecution", is_key=True, models=SEARCHING_GEMINI),
    HostedForm(
        kind="file_search",
        type="fileSearch",
        is_key=True,
        models=READING_GEMINI,
        options={"stores": "fileSearchStoreNames", "max_results": "topK"},
        alone=True,
    ),
)
VERTEX = (
    HostedForm(
        kind="web_search",
        type="googleSearch",
        is_key=True,
        models=SEARCHING_GEMINI,
        options={"blocked_domains": "excludeDomains"},
    ),
    *GEMINI[1:3],
)

OPENROUTER = (
    HostedForm(
        kind="web_search",
        type="openrouter:web_search",
        options={
            "allowed_domains": "parameters.allowed_domains",
            "blocked_domains": "parameters.excluded_domains",
            "max_uses": "parameters.max_uses",
            "context_size": "parameters.search_context_size",
        },
    ),
)

GROQ = (
    HostedForm(kind="web_search", type="browser_search", models=("gpt-oss*",)),
    HostedForm(kind="code_execution", type="code_interpreter", models=("gpt-oss*",)),
)

ZAI = (
    HostedForm(
        kind="web_search",
        type="web_search",
        fixed={"web_search": {"enable": True, "search_result": True}},
    ),
)
