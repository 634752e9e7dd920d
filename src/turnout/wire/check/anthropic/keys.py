"""The keys that Anthropic Messages takes; every other one is refused (ANT-27)."""

from __future__ import annotations

from collections.abc import Iterator

from ..chat.view import text
from ..problem import Problem
from ..reading import objects
from .view import AnthropicRequest

# All other keys are refused. Other blocks, and the server's own tools, get new keys too often to list.
BODY_KEYS = {
    *("model", "messages", "system", "tools", "tool_choice", "max_tokens", "stream", "stop_sequences"),
    *("thinking", "output_config", "output_format", "temperature", "top_k", "top_p"),
    *("cache_control", "context_management", "compaction", "container", "mcp_servers", "thread"),
    *("metadata", "service_tier", "speed", "inference_geo", "diagnostics", "user_profile_id", "workspace_id"),
    *("fallbacks", "fallback_credit_token", "betas", "anthropic_beta", "anthropic_version"),
}
MESSAGE_KEYS = {
    "user": {"role", "content"},
    "assistant": {"role", "content"},
    "system": {"role", "content", "output_config", "clear_at"},
}
BLOCK_KEYS = {
    "text": {"type", "text", "cache_control", "citations"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller", "toolset_name"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"},
    "thinking": {"type", "thinking", "signature", "cache_control"},
    "redacted_thinking": {"type", "data", "cache_control"},
}
TOOL_KEYS = {
    *("type", "name", "description", "input_schema", "cache_control", "strict", "defer_loading"),
    *("eager_input_streaming", "allowed_callers", "input_examples"),
}


def no_foreign_keys(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-27: keys that the API does not know are refused."""
    extra = [key for key in request.body if key not in BODY_KEYS]
    for place, message in objects(request.body.get("messages")):
        known = MESSAGE_KEYS.get(text(message.get("role")), MESSAGE_KEYS["user"])
        extra += [f"messages.{place}.{key}" for key in message if key not in known]
    for block in request.blocks(*BLOCK_KEYS):
        unknown = [key for key in block.raw if key not in BLOCK_KEYS[block.type]]
        extra += [f"{block.path}.{block.type}.{key}" for key in unknown]
    for path, tool in request.tools():
        if tool.get("type") in (None, "custom"):
            extra += [f"{path}.custom.{key}" for key in tool if key not in TOOL_KEYS]
    for path in extra:
        answer = f"{path}: Extra inputs are not permitted"
        yield Problem("ANT-27", path, answer, "strip what other APIs put there")
