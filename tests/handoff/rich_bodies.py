"""One request in each format with every kind of thing that its API knows, and some that it does not."""

from __future__ import annotations

from typing import Any

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQK"
IMAGE_URL = f"data:image/png;base64,{PNG}"
PDF_URL = f"data:application/pdf;base64,{PDF}"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "T",
    "description": "root",
    "properties": {
        "a": {
            "type": "string",
            "description": "d",
            "pattern": "x+",
            "default": "q",
            "examples": ["e"],
            "minLength": 2,
            "maxLength": 9,
            "format": "date",
        },
        "n": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 3},
        "l": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
    },
    "required": ["a"],
}
CHAT: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "sys", "name": "boss"},
        {"role": "developer", "content": [{"type": "text", "text": "dev"}]},
        {
            "role": "user",
            "name": "ann",
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "image_url", "image_url": {"url": IMAGE_URL, "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "https://a.example/x.png"}},
                {"type": "file", "file": {"filename": "f.pdf", "file_data": PDF_URL}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
            ],
        },
        {
            "role": "assistant",
            "content": "ok",
            "refusal": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"a": "x", "deep": {"b": ["y", 3]}}'},
                },
                {"id": "c2", "type": "custom", "custom": {"name": "g", "input": "free text"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "res1"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "res2"}]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "part"}, {"type": "refusal", "refusal": "no way"}],
            "annotations": [
                {"type": "url_citation", "url_citation": {"url": "https://c.example", "title": "ct"}}
            ],
            "audio": {"id": "audio_1"},
        },
        {"role": "user", "content": "bye", "weird": "w"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "description": "fd", "parameters": SCHEMA, "strict": False},
        },
        {
            "type": "custom",
            "custom": {
                "name": "g",
                "description": "gd",
                "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: x"}},
            },
        },
    ],
    "logit_bias": {"5": 3},
    "user": "u",
    "metadata": {"k": "v"},
    "modalities": ["text", "audio"],
    "audio": {"voice": "alloy", "format": "wav"},
    "prediction": {"type": "content", "content": "pc"},
    "web_search_options": {"user_location": {"type": "approximate", "approximate": {"city": "Oslo"}}},
    "safety_identifier": "sid",
    "prompt_cache_key": "pck",
    "seed": 5,
    "stop": ["s1", "s2"],
    "frequency_penalty": 0.1,
    "presence_penalty": 0.2,
    "top_logprobs": 2,
    "logprobs": True,
    "temperature": 0.5,
    "top_p": 0.5,
    "unknown_field": {"x": "y"},
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "n", "description": "sd", "schema": SCHEMA, "strict": True},
    },
}
ANTHROPIC: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 100,
    "system": [
        {"type": "text", "text": "s1", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "s2"},
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "hi", "weird": "w"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                {"type": "image", "source": {"type": "url", "url": "https://a.example/x.png"}},
                {
                    "type": "document",
                    "title": "dt",
                    "context": "dc",
                    "citations": {"enabled": True},
                    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                },
                {
                    "type": "document",
                    "title": "dt2",
                    "source": {"type": "text", "media_type": "text/plain", "data": "plain doc"},
                },
                {
                    "type": "document",
                    "source": {"type": "content", "content": [{"type": "text", "text": "inner"}]},
                },
                {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
                {
                    "type": "search_result",
                    "title": "st",
                    "source": "https://s.example",
                    "content": [{"type": "text", "text": "found"}],
                },
                {"type": "container_upload", "file_id": "file_2"},
                {"type": "new_block", "text": "nb", "more": "mm"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2lnbmF0dXJl"},
                {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
                {
                    "type": "text",
                    "text": "cited",
                    "citations": [
                        {
                            "type": "char_location",
                            "cited_text": "ct",
                            "document_index": 0,
                            "document_title": "dt",
                            "start_char_index": 0,
                            "end_char_index": 2,
                        }
                    ],
                },
                {
                    "type": "server_tool_use",
                    "id": "srvtoolu_1",
                    "name": "web_search",
                    "input": {"query": "q"},
                },
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": [
                        {
                            "type": "web_search_result",
                            "url": "https://w.example",
                            "title": "wt",
                            "encrypted_content": "ZW5j",
                            "page_age": "1d",
                        }
                    ],
                },
                {
                    "type": "tool_use",
                    "id": "toolu_1",
                    "name": "f",
                    "input": {"a": "x", "deep": {"b": ["y", 3]}},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "res"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                        },
                        {"type": "tool_reference", "tool_name": "zz"},
                    ],
                },
                {"type": "text", "text": "and"},
            ],
        },
    ],
    "tools": [
        {"name": "f", "description": "fd", "input_schema": SCHEMA, "input_examples": [{"a": "ex"}]},
        {
            "type": "web_search_20250305",
            "name": "web_search",
            "allowed_domains": ["d.example"],
            "user_location": {"type": "approximate", "city": "Oslo"},
        },
    ],
    "metadata": {"user_id": "u"},
    "stop_sequences": ["s"],
    "temperature": 0.5,
    "top_k": 5,
    "top_p": 0.9,
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "service_tier": "auto",
    "container": "cc",
    "mcp_servers": [{"type": "url", "url": "https://m.example", "name": "mm", "authorization_token": "tok"}],
    "context_management": {
        "edits": [{"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 3}}]
    },
    "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"},
    "unknown_field": "uf",
}
GEMINI: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "s1"}, {"text": "s2"}]},
    "contents": [
        {
            "role": "user",
            "parts": [
                {"text": "hi"},
                {
                    "inlineData": {"mimeType": "image/png", "data": PNG},
                    "videoMetadata": {"startOffset": "1s"},
                },
                {"fileData": {"mimeType": "application/pdf", "fileUri": "https://g.example/x.pdf"}},
                {"fileData": {"fileUri": "https://www.youtube.com/watch?v=1"}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "think", "thought": True},
                {"text": "said", "thoughtSignature": "c2ln"},
                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                {
                    "functionCall": {"name": "f", "args": {"a": "x", "deep": {"b": ["y", 3]}}, "id": "i1"},
                    "thoughtSignature": "c2ln",
                },
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "f",
                        "id": "i1",
                        "response": {"r": "res", "n": {"m": "deep"}},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
                    }
                },
                {"newPart": {"x": "y"}},
            ],
        },
    ],
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "f",
                    "description": "fd",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"a": {"type": "STRING", "description": "pd"}},
                    },
                    "response": {"type": "OBJECT", "description": "rd"},
                    "behavior": "BLOCKING",
                }
            ]
        },
        {"googleSearch": {"timeRangeFilter": {"startTime": "2020"}}},
    ],
    "toolConfig": {
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f", "g"]},
        "retrievalConfig": {"languageCode": "de"},
    },
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    "cachedContent": "cachedContents/x",
    "labels": {"k": "v"},
    "generationConfig": {
        "temperature": 0.5,
        "topP": 0.5,
        "topK": 5,
        "seed": 4,
        "maxOutputTokens": 100,
        "stopSequences": ["s"],
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "responseLogprobs": True,
        "responseModalities": ["TEXT"],
        "speechConfig": {"languageCode": "de"},
        "thinkingConfig": {"thinkingBudget": 500, "includeThoughts": True},
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
        "mediaResolution": "MEDIA_RESOLUTION_LOW",
    },
}
RESPONSES: dict[str, Any] = {
    "model": "gpt-5.1",
    "instructions": "ins",
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "hi"},
                {"type": "input_image", "image_url": IMAGE_URL, "detail": "low"},
                {"type": "input_file", "filename": "f.pdf", "file_data": PDF_URL},
                {"type": "input_file", "file_id": "file-1"},
            ],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "sum"}],
            "encrypted_content": "ZW5j",
        },
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "said", "annotations": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"a": "x"}'},
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": [
                {"type": "input_text", "text": "res"},
                {"type": "input_image", "image_url": IMAGE_URL},
            ],
        },
        {"role": "developer", "content": "dev"},
        {"role": "user", "content": "bye"},
    ],
    "tools": [
        {
            "type": "function",
            "name": "f",
            "description": "fd",
            "parameters": SCHEMA,
            "strict": False,
            "defer_loading": True,
        },
        {
            "type": "mcp",
            "server_label": "sl",
            "server_url": "https://m.example",
            "headers": {"h": "hv"},
            "allowed_tools": ["at"],
        },
        {"type": "web_search", "filters": {"allowed_domains": ["d.example"]}},
        {
            "type": "namespace",
            "name": "ns",
            "description": "nd",
            "tools": [{"type": "function", "name": "h", "description": "hd", "parameters": SCHEMA}],
        },
    ],
    "metadata": {"k": "v"},
    "user": "u",
    "safety_identifier": "sid",
    "prompt_cache_key": "pck",
    "prompt": {"id": "pmpt_1", "variables": {"x": "vv"}},
    "truncation": "auto",
    "max_output_tokens": 100,
    "max_tool_calls": 3,
    "temperature": 0.5,
    "top_p": 0.5,
    "top_logprobs": 2,
    "reasoning": {"effort": "low", "summary": "auto"},
    "text": {
        "verbosity": "low",
        "format": {"type": "json_schema", "name": "n", "description": "sd", "schema": SCHEMA, "strict": True},
    },
    "context_management": [{"type": "compaction", "compact_threshold": 1000}],
    "unknown_field": "uf",
}

BODIES = {
    "openai-chat": (CHAT, "openai:gpt-4o"),
    "anthropic": (ANTHROPIC, "anthropic:claude-sonnet-4-5"),
    "gemini": (GEMINI, "gemini:gemini-2.5-flash"),
    "openai-responses": (RESPONSES, "openai-responses:gpt-5.1"),
}
"""By format: the request, and whom it was written for."""
