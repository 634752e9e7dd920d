"""The failures of each provider: statuses, labels and texts, by kind of failure."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class FailureText(Struct, frozen=True):
    """One failure of a provider. `type` and `code` are its two labels for it."""

    status: int
    type: str
    message: str
    code: Any = None
    param: Any = None


INVALID = "invalid_request_error"

OPENAI: dict[str, FailureText] = {
    "auth": FailureText(
        401,
        INVALID,
        "Incorrect API key provided: {key}. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        "invalid_api_key",
    ),
    "no_key": FailureText(
        401,
        INVALID,
        "You didn't provide an API key. You need to provide your API key in an Authorization header using "
        "Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    ),
    "rate_limit": FailureText(
        429,
        "requests",
        "Rate limit reached for {model} on requests per min (RPM): Limit 500, Used 500, Requested 1.",
        "rate_limit_exceeded",
    ),
    "quota": FailureText(
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
    ),
    "overloaded": FailureText(
        503, "server_error", "The engine is currently overloaded, please try again later"
    ),
    "context_too_long": FailureText(
        400,
        INVALID,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 "
        "tokens. Please reduce the length of the messages.",
        "context_length_exceeded",
        "messages",
    ),
    "content_filter": FailureText(
        400, INVALID, "Your prompt was flagged as potentially violating our usage policy.", "invalid_prompt"
    ),
    "not_found": FailureText(
        404,
        INVALID,
        "The model `{model}` does not exist or you do not have access to it.",
        "model_not_found",
    ),
    "server": FailureText(
        500, "server_error", "The server had an error while processing your request. Sorry about that!"
    ),
    "timeout": FailureText(408, "timeout_error", "Request timed out.", "request_timeout"),
    "invalid_request": FailureText(400, INVALID, "Invalid request."),
    "no_route": FailureText(404, INVALID, "Invalid URL (POST {path})"),
}

ANTHROPIC: dict[str, FailureText] = {
    "auth": FailureText(401, "authentication_error", "invalid x-api-key"),
    "no_key": FailureText(401, "authentication_error", "x-api-key header is required"),
    "rate_limit": FailureText(
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 50 requests per minute.",
    ),
    "quota": FailureText(
        400,
        INVALID,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade "
        "or purchase credits.",
    ),
    "overloaded": FailureText(529, "overloaded_error", "Overloaded"),
    "context_too_long": FailureText(400, INVALID, "prompt is too long: 210000 tokens > 200000 maximum"),
    "content_filter": FailureText(400, INVALID, "Output blocked by content filtering policy"),
    "not_found": FailureText(404, "not_found_error", "model: {model}"),
    "server": FailureText(500, "api_error", "Internal server error"),
    "timeout": FailureText(504, "timeout_error", "Request timed out"),
    "invalid_request": FailureText(400, INVALID, "Invalid request."),
    "no_route": FailureText(404, "not_found_error", "Not Found"),
    "no_version": FailureText(400, INVALID, "anthropic-version: header is required"),
}

GEMINI: dict[str, FailureText] = {
    "auth": FailureText(
        400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "API_KEY_INVALID"
    ),
    "no_key": FailureText(
        403,
        "PERMISSION_DENIED",
        "Method doesn't allow unregistered callers (callers without established identity). Please use API "
        "Key or other form of API consumer identity to call this API.",
    ),
    "rate_limit": FailureText(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later."),
    "quota": FailureText(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "overloaded": FailureText(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "context_too_long": FailureText(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "content_filter": FailureText(400, "INVALID_ARGUMENT", "The prompt was blocked by the content filter."),
    "not_found": FailureText(
        404,
        "NOT_FOUND",
        "models/{model} is not found for API version v1beta, or is not supported for generateContent. Call "
        "ModelService.ListModels to see the list of available models and their supported methods.",
    ),
    "server": FailureText(500, "INTERNAL", "An internal error has occurred. Please retry or report."),
    "timeout": FailureText(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
    "invalid_request": FailureText(400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    "no_route": FailureText(404, "NOT_FOUND", "Requested entity was not found."),
}

BEDROCK: dict[str, FailureText] = {
    "auth": FailureText(
        403, "UnrecognizedClientException", "The security token included in the request is invalid."
    ),
    "no_key": FailureText(403, "MissingAuthenticationTokenException", "Missing Authentication Token"),
    "rate_limit": FailureText(
        429, "ThrottlingException", "Too many requests, please wait before trying again."
    ),
    "quota": FailureText(
        400, "ServiceQuotaExceededException", "Too many tokens per day, please wait before trying again."
    ),
    "overloaded": FailureText(
        503, "ServiceUnavailableException", "Bedrock is unable to process your request."
    ),
    "context_too_long": FailureText(400, "ValidationException", "Input is too long for requested model."),
    "content_filter": FailureText(
        400, "ValidationException", "The request was blocked by the content filter."
    ),
    "not_found": FailureText(400, "ValidationException", "The provided model identifier is invalid."),
    "server": FailureText(
        500,
        "InternalServerException",
        "The system encountered an unexpected error during processing. Try your request again.",
    ),
    "timeout": FailureText(408, "ModelTimeoutException", "Model has timed out in processing the request."),
    "invalid_request": FailureText(400, "ValidationException", "Malformed input request."),
    "no_route": FailureText(404, "UnknownOperationException", "Unknown operation"),
}

MISTRAL: dict[str, FailureText] = {
    "auth": FailureText(401, "unauthorized", "Unauthorized"),
    "no_key": FailureText(401, "unauthorized", "Unauthorized"),
    "rate_limit": FailureText(429, "rate_limited", "Requests rate limit exceeded", "1300"),
    "quota": FailureText(402, "payment_required", "Your monthly usage limit has been reached.", "1400"),
    "overloaded": FailureText(503, "service_unavailable", "Service unavailable.", "1800"),
    "context_too_long": FailureText(
        400,
        "invalid_request_prompt",
        "Prompt contains 140000 tokens, too large for model with 131072 maximum context length",
        "3051",
    ),
    "content_filter": FailureText(
        403, "content_filter", "The request was rejected by the moderation system.", "3700"
    ),
    "not_found": FailureText(400, "invalid_model", "Invalid model: {model}", "1500"),
    "server": FailureText(
        500, "internal_server_error", "Service unavailable. Please try again later.", "1000"
    ),
    "timeout": FailureText(504, "request_timeout", "The request timed out", "1900"),
    "invalid_request": FailureText(400, "invalid_request_error", "Invalid request.", "3051"),
    "no_route": FailureText(404, "not_found", "no Route matched with those values"),
}

XAI: dict[str, FailureText] = {
    **OPENAI,
    "auth": FailureText(
        400,
        "Client specified an invalid argument",
        "Incorrect API key provided: {key}. You can obtain an API key from https://console.x.ai.",
    ),
    "no_key": FailureText(
        401, "Unauthenticated", "No API key provided. Missing API key in the Authorization header."
    ),
    "rate_limit": FailureText(429, "Some resource has been exhausted", "Too many requests for {model}."),
    "quota": FailureText(
        429,
        "Some resource has been exhausted",
        "Your team has either used all available credits or reached its monthly spending limit.",
    ),
    "overloaded": FailureText(
        503, "The service is currently unavailable", "The model is at capacity currently."
    ),
    "context_too_long": FailureText(
        400,
        "Client specified an invalid argument",
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    ),
    "content_filter": FailureText(
        403, "The caller does not have permission", "Content violates usage policy guidelines."
    ),
    "not_found": FailureText(404, "Some requested entity was not found", "The model {model} does not exist."),
    "server": FailureText(500, "Internal error", "Internal error while processing the request."),
    "timeout": FailureText(504, "Deadline expired", "Deadline exceeded."),
    "invalid_request": FailureText(400, "Client specified an invalid argument", "Invalid request content."),
}

CHANGES: dict[str, dict[str, FailureText]] = {
    "kimi": {
        "auth": FailureText(401, "invalid_authentication_error", "Invalid Authentication"),
        "no_key": FailureText(401, "invalid_authentication_error", "Invalid Authentication"),
        "quota": FailureText(
            429, "exceeded_current_quota_error", "Your account is suspended due to insufficient balance"
        ),
        "overloaded": FailureText(
            429, "engine_overloaded_error", "The engine is currently overloaded, please try again later"
        ),
        "context_too_long": FailureText(
            400, INVALID, "Invalid request: Your request exceeded model token limit: 262144"
        ),
        "content_filter": FailureText(
            400, "content_filter", "The request was rejected because it was considered high risk"
        ),
        "not_found": FailureText(
            404, "resource_not_found_error", "Not found the model {model} or Permission denied"
        ),
    },
    "deepseek": {
        "auth": FailureText(
            401, "authentication_error", "Authentication Fails, Your api key: {key} is invalid", INVALID
        ),
        "no_key": FailureText(
            401, "authentication_error", "Authentication Fails (auth header missing)", INVALID
        ),
        "quota": FailureText(402, "unknown_error", "Insufficient Balance", INVALID),
        "content_filter": FailureText(400, INVALID, "Content Exists Risk", INVALID),
        "overloaded": FailureText(503, "service_unavailable_error", "Service is too busy.", INVALID),
    },
    "openrouter": {
        "auth": FailureText(401, "", "User not found.", 401),
        "no_key": FailureText(401, "", "No cookie auth credentials found", 401),
        "rate_limit": FailureText(
            429, "", "Rate limit exceeded: {model} is limited to 1 requests per minute.", 429
        ),
        "quota": FailureText(402, "", "This request requires more credits, or fewer max_tokens.", 402),
        "overloaded": FailureText(503, "", "The upstream provider is overloaded.", 503),
        "context_too_long": FailureText(
            400,
            "",
            "This endpoint's maximum context length is 200000 tokens. However, you requested 250021 tokens.",
            400,
        ),
        "content_filter": FailureText(403, "", "Input was flagged by moderation", 403),
        "not_found": FailureText(404, "", "No such model: {model} is not a valid model ID", 404),
        "server": FailureText(502, "", "Provider returned error", 502),
        "timeout": FailureText(408, "", "Your request timed out", 408),
        "invalid_request": FailureText(400, "", "Provider returned error", 400),
    },
    "copilot": {
        "auth": FailureText(401, "", "unauthorized: token expired"),
        "no_key": FailureText(401, "", "unauthorized: Authorization header is badly formatted"),
        "quota": FailureText(
            429, "", "Sorry, you have exceeded your monthly limit of premium requests.", "quota_exceeded"
        ),
        "context_too_long": FailureText(
            400,
            "",
            "prompt token count of 70000 exceeds the limit of 64000",
            "model_max_prompt_tokens_exceeded",
        ),
        "not_found": FailureText(400, "", "The requested model is not supported.", "model_not_supported"),
        "invalid_request": FailureText(400, "", "Invalid request.", "invalid_request_body"),
    },
    "qwen": {
        "auth": FailureText(401, INVALID, "Incorrect API key provided.", "invalid_api_key"),
        "quota": FailureText(
            400, "Arrearage", "Access denied, please make sure your account is in good standing.", "Arrearage"
        ),
        "content_filter": FailureText(
            400,
            "data_inspection_failed",
            "Input data may contain inappropriate content.",
            "data_inspection_failed",
        ),
    },
    "groq": {
        "auth": FailureText(401, INVALID, "Invalid API Key", "invalid_api_key"),
        "no_key": FailureText(401, INVALID, "Invalid API Key", "invalid_api_key"),
        "overloaded": FailureText(503, "internal_server_error", "{model} is currently over capacity."),
    },
    "vllm": {
        "context_too_long": FailureText(
            400,
            "BadRequestError",
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
            400,
        ),
        "invalid_request": FailureText(400, "BadRequestError", "Invalid request.", 400),
    },
    "llamacpp": {
        "context_too_long": FailureText(
            400, "exceed_context_size_error", "the request exceeds the available context size", 400
        ),
        "overloaded": FailureText(503, "unavailable_error", "Loading model", 503),
    },
    "azure": {
        "no_route": FailureText(404, "404", "Resource not found", "404"),
    },
    "ollama": {
        "not_found": FailureText(404, "not_found_error", 'model "{model}" not found, try pulling it first'),
        "server": FailureText(500, "api_error", "llama runner process has terminated: exit status 2"),
    },
}
"""What servers of Chat answer in place of the texts of OpenAI."""


def failure_text(provider: str, protocol: str, kind: str) -> FailureText:
    """The text of a provider for a kind of failure, with placeholders."""
    if protocol == "anthropic":
        return ANTHROPIC[kind]
    if protocol == "gemini":
        return GEMINI[kind]
    if protocol in ("converse", "invoke") or provider == "bedrock":
        return BEDROCK[kind]
    table = {"mistral": MISTRAL, "xai": XAI}.get(provider, OPENAI)
    return CHANGES.get(provider, {}).get(kind) or table[kind]
