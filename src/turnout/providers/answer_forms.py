"""How a model is asked for an answer of a given shape: as data, by provider and model.

`schema`: the API takes a JSON Schema for the answer. `json`: it promises a JSON object of any shape, so
the schema is told in words. `tool`: the answer is the arguments of a tool that the model must call.
`text`: the schema is told in words, and nothing is promised.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

AnswerForm = Literal["schema", "json", "tool", "text"]


class AnswerRule(Struct, frozen=True):
    """The form for the models of a provider that fit the patterns; with or without tools beside it."""

    provider: str
    model: str
    form: AnswerForm
    beside_tools: AnswerForm | None = None  # None: the same


CLAUDE_ON_BEDROCK = ("haiku-4-5", "sonnet-4-5", "opus-4-5", "sonnet-4-6", "opus-4-6")
"""The models of Claude that take a schema of the answer, and strict tools, on Bedrock (as of 2026-09)."""

RULES = (
    # Anthropic: structured outputs began with Claude Sonnet 4.5 and Opus 4.1; older models answer 400.
    AnswerRule("*", "*claude-3*", "tool"),
    AnswerRule("*", "*claude-2*", "text"),
    AnswerRule("*", "*claude-sonnet-4-2025*", "tool"),
    AnswerRule("*", "*claude-opus-4-2025*", "tool"),
    AnswerRule("*", "*claude-sonnet-4-0*", "tool"),
    AnswerRule("*", "*claude-opus-4-0*", "tool"),
    # Gemini before 3: "Function calling with a response mime type: 'application/json' is unsupported".
    AnswerRule("gemini", "gemini-2*", "schema", "text"),
    AnswerRule("vertex", "gemini-2*", "schema", "text"),
    AnswerRule("gemini", "gemini-1*", "schema", "text"),
    # DeepSeek answers `json_schema` with "This response_format type is unavailable now".
    AnswerRule("deepseek", "*", "json"),
    AnswerRule("kimi", "*", "json"),
    AnswerRule("zai", "*", "json"),
    AnswerRule("qwen", "*", "json"),
    # Groq serves schemas on a few models only, and on none of them beside tools.
    AnswerRule("groq", "openai/gpt-oss*", "schema", "text"),
    AnswerRule("groq", "*", "json", "text"),
    # Bedrock has structured outputs on some models only. Claude since Opus 4.7 answers
    # "output_config.format: Extra inputs are not permitted"; which one does is not a matter of its version.
    *(AnswerRule("bedrock", f"*claude-{name}*", "schema") for name in CLAUDE_ON_BEDROCK),
    AnswerRule("bedrock", "*gpt-oss*", "schema"),
    AnswerRule("bedrock", "*kimi*", "schema"),
    AnswerRule("bedrock", "*", "tool"),
    # OpenAI: `json_schema` came with gpt-4o; older models take only JSON objects.
    AnswerRule("*", "*gpt-4-turbo*", "json"),
    AnswerRule("*", "*gpt-3.5*", "json"),
    AnswerRule("*", "*o1-mini*", "text"),
)


def answer_form(provider: str, model: str, *, has_tools: bool) -> AnswerForm:
    """The form for a model; a schema of the API's own where no rule names another."""
    name = model.lower()
    for rule in RULES:
        if fnmatchcase(provider, rule.provider) and fnmatchcase(name, rule.model):
            return rule.beside_tools if has_tools and rule.beside_tools else rule.form
    return "schema"
