"""What an option was called in the request that asks for it.

Reports name options in neutral words. The author of a request with `stopSequences` looks for
that word, so a line about `stop` names it too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..wire.options import Options

OPTION_OF_FIELD = {
    **dict.fromkeys(
        ("max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"), "max_tokens"
    ),
    **dict.fromkeys(("options.num_predict",), "max_tokens"),
    "topP": "top_p",
    "topK": "top_k",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    **dict.fromkeys(("stopSequences", "stop_sequences"), "stop"),
    "random_seed": "seed",
    **dict.fromkeys(("top_logprobs", "responseLogprobs"), "logprobs"),
    **dict.fromkeys(("parallel_tool_calls", "disable_parallel_tool_use"), "parallel"),
    "prompt_cache_key": "cache_key",
    "prompt_cache_retention": "cache_ttl",
    "user_id": "user",
    "requestMetadata": "metadata",
    "serviceTier.type": "service_tier",
    **dict.fromkeys(("reasoning_effort", "effort", "thinkingLevel", "maxReasoningEffort"), "effort"),
    **dict.fromkeys(("budget_tokens", "thinkingBudget", "thinking_budget", "reasoning.max_tokens"), "budget"),
    **dict.fromkeys(("enable_thinking", "think", "thinking.type", "includeThoughts"), "thinking"),
    "reasoning.enabled": "thinking",
    "text.verbosity": "verbosity",
    **dict.fromkeys(("response_format.json_schema.name", "text.format.name"), "schema_name"),
    **dict.fromkeys(
        ("response_format.json_schema.description", "text.format.description"), "schema_description"
    ),
    **dict.fromkeys(("response_format.json_schema.strict", "text.format.strict"), "schema_strict"),
    **dict.fromkeys(("response_format.json_schema.schema", "text.format.schema", "format"), "schema"),
    **dict.fromkeys(("responseSchema", "responseJsonSchema"), "schema"),
    **dict.fromkeys(("response_format.type", "text.format.type", "responseMimeType"), "json"),
    **dict.fromkeys(("function_call", "functionCallingConfig.mode", "toolConfig.toolChoice"), "tool_choice"),
}
"""By the whole path of a field, or by its last word."""


def source_names(paths: Iterable[str]) -> dict[str, str]:
    """The request's name of each option, where it differs from ours."""
    names: dict[str, list[str]] = {}
    for path in paths:
        option = OPTION_OF_FIELD.get(path) or OPTION_OF_FIELD.get(path.rpartition(".")[2])
        if option is not None and option != path:
            names.setdefault(option, []).append(path)
    # A thinking budget asks for thinking, too: if the model does not think, both are left out.
    if thinking := [path for option in ("thinking", "effort", "budget") for path in names.get(option, ())]:
        names["thinking"] = thinking
    return {option: ", ".join(found) for option, found in names.items()}


def with_source_names(changes: Iterable[str], options: Options, chosen: Collection[str]) -> list[str]:
    """The lines of a report, each with the request's own word for what it is about.

    Options that the caller chose anew (`chosen`) are not the request's.
    """
    data = options.private.data if options.private is not None else None
    held = data.get("names") if isinstance(data, dict) else None
    names = {name: path for name, path in (held or {}).items() if name not in chosen}
    return [_with_source_name(line, names) for line in changes] if names else list(changes)


def _with_source_name(line: str, names: dict[str, str]) -> str:
    head = re.split(" (?:left out|sent as|switched off)", line)[0]
    if head == line or head.startswith(("tool ", "dropped_tool ")):
        return line
    paths = [path for name, path in names.items() if re.search(rf"(?<![\w.]){name}(?![\w.])", head)]
    return f"{line} (asked for as {', '.join(dict.fromkeys(paths))})" if paths else line
