"""What a model's name shows: its family, its version, whether it thinks by default.

Hosts write the same model in many ways (`moonshotai/kimi-k2.5`, `Kimi-K2-Instruct-0905:groq`,
`accounts/x/models/kimi-k2p5`), so the name is searched, never split.
"""

from __future__ import annotations

import re

# The first word found decides. Distilled models have the names of both parents, the teacher first.
FAMILIES: tuple[tuple[str, str], ...] = (
    ("deepseek", "deepseek"),
    ("kimi", "kimi"),
    ("moonshot", "kimi"),
    ("ministral", "mistral"),
    ("devstral", "mistral"),
    ("codestral", "mistral"),
    ("magistral", "mistral"),
    ("mathstral", "mistral"),
    ("mixtral", "mistral"),
    ("pixtral", "mistral"),
    ("voxtral", "mistral"),
    ("mistral", "mistral"),
    ("claude", "claude"),
    ("gemini", "gemini"),
    ("grok", "xai"),
    ("qwen", "qwen"),
    ("qwq", "qwen"),
    ("qvq", "qwen"),
    ("glm", "zai"),
    ("gpt-oss", "open"),
    ("gemma", "open"),
    ("llama", "open"),
    ("palmyra", "open"),
    ("granite", "open"),
    ("nemotron", "open"),
    ("minimax", "open"),
    ("command", "open"),
    ("sonar", "open"),
    ("gpt", "openai"),
)
_OPENAI_SERIES = re.compile(r"(?:^|/)o\d(?:$|[-:])")


def family(model: str) -> str:
    """The family of a model, or "" if the name does not show it."""
    name = model.lower()
    for word, found in FAMILIES:
        if word in name:
            return found
    return "openai" if _OPENAI_SERIES.search(name) else ""


def is_elsewhere(model: str) -> bool:
    """Whether OpenAI cannot be the server: another maker's model, or a name with a vendor before it."""
    if model.lower().startswith("ft:"):
        return False
    return "/" in model or family(model) not in ("", "openai")


def hears_no_system(model: str) -> bool:
    """o1-mini and o1-preview refuse system and developer messages alike; o1 itself takes both."""
    return re.search(r"(?:^|/)o1-(?:mini|preview)", model.lower()) is not None


_GPT = re.compile(r"gpt-(\d)(?:\.(\d{1,2}))?(?!\d)")  # Azure's gpt-35-turbo has no version here
_KIMI = re.compile(r"\bk(\d)(?:[.p](\d{1,2}))?(?!\d)")
_CLAUDE = re.compile(r"claude-(?:[a-z]+-)*(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)")
_DEEPSEEK = re.compile(r"deepseek-v(\d{1,2})")
_GEMINI = re.compile(r"gemini-(\d{1,2})")


def gpt_version(model: str) -> tuple[int, int]:
    """gpt-5.6-terra is (5, 6), `gpt-4o` is (4, 0), other models are (0, 0)."""
    return _version(_GPT, model)


def kimi_version(model: str) -> tuple[int, int]:
    return _version(_KIMI, model)


def claude_version(model: str) -> tuple[int, int]:
    """claude-haiku-4.5 and claude-haiku-4-5-20251001 are (4, 5); claude-sonnet-4-20250514 is (4, 0)."""
    return _version(_CLAUDE, model)


def deepseek_version(model: str) -> int:
    return _version(_DEEPSEEK, model)[0]


def gemini_version(model: str) -> int:
    return _version(_GEMINI, model)[0]


def _version(pattern: re.Pattern[str], model: str) -> tuple[int, int]:
    found = pattern.search(model.lower())
    if not found:
        return 0, 0
    groups = found.groups()
    return int(groups[0]), int(groups[1] or 0) if len(groups) > 1 else 0
