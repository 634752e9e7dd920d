"""Model names as people type them: `gpt-5.1`, `openai/gpt-5.1`, `ollama/qwen3:8b`.

A name without a provider means the company that makes the model. A name that several
models share is an error that lists them: a wrong guess would cost money.
"""

from __future__ import annotations

from difflib import get_close_matches

from ..errors import UsageError
from ..model import Origin
from ..providers import find_provider
from ..providers.models import MODELS, normalize_model_name
from ..providers.prices import PRICES

MAKERS = {
    "gpt-oss": "",  # open weights: many hosts serve it, and none of them is the usual one
    "gpt": "openai",
    "chatgpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
    "ministral": "mistral",
    "codestral": "mistral",
    "devstral": "mistral",
    "magistral": "mistral",
    "pixtral": "mistral",
    "kimi": "kimi",
    "moonshot": "kimi",
    "deepseek": "deepseek",
    "qwen": "qwen",
    "grok": "xai",
    "glm": "zai",
}
"""The provider whose own models begin like this."""
LISTED = 6


def full_target_name(name: str) -> str:
    """The name as `provider:model`. A provider alone, or with an endpoint, stays as it is."""
    name = name.strip()
    head, slash, rest = name.partition("/")
    if slash and rest and ":" not in head and "@" not in head and _is_provider(head):
        return f"{head}:{_own_spelling(find_provider(head).name, rest)}"
    place, colon, _ = name.partition(":")
    if not name or _is_provider(place.partition("@")[0]) or (colon and maker_of(name) == ""):
        return name
    return str(_model_alone(name))


def maker_of(model: str) -> str:
    """The provider that makes this model; "" if it is not known, or if only hosts serve it."""
    written = normalize_model_name(model)
    fitting = [start for start in MAKERS if written.startswith(start)]
    return MAKERS[max(fitting, key=len)] if fitting else ""


def known_model_names() -> list[str]:
    """The models with a known maker, as `provider:model`."""
    names = {name: maker_of(name) for name in (*MODELS, *PRICES)}
    return [f"{maker}:{name}" for name, maker in names.items() if maker and any(map(str.isdigit, name))]


def _is_provider(word: str) -> bool:
    try:
        find_provider(word)
    except UsageError:
        return False
    return True


def _model_alone(name: str) -> Origin:
    """The only model that this name can mean."""
    maker = maker_of(name)
    if maker and _is_exact(name):
        return Origin(maker, "", _own_spelling(maker, name.rpartition("/")[2]))
    wanted = name.lower()
    found = [known for known in known_model_names() if wanted in known.partition(":")[2]]
    if len(found) == 1:
        return Origin.parse(found[0])
    if not found and maker and any(wanted.startswith(f"{start}-") for start in MAKERS):
        return Origin(maker, "", name)
    raise UsageError(_unclear_name(name, found))


def _own_spelling(provider: str, model: str) -> str:
    """Anthropic writes `claude-sonnet-4-5`; OpenRouter and many people write a dot."""
    return normalize_model_name(model) if provider == "anthropic" and "." in model else model


def _is_exact(name: str) -> bool:
    """Whether this is the whole name of a model, or one with a date or a variant behind it."""
    written = normalize_model_name(name)
    return any(written == known or written.startswith(f"{known}-") for known in (*MODELS, *PRICES))


def _unclear_name(name: str, found: list[str]) -> str:
    if found:
        more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
        return f"{name!r} fits several models: {', '.join(found[:LISTED])}{more}; write one of them"
    models = {known.partition(":")[2]: known for known in known_model_names()}
    near = get_close_matches(name.lower(), models, n=3)
    hint = f"did you mean {' or '.join(models[one] for one in near)}?" if near else "write provider:model."
    return f"{name!r} is not a provider or a known model; {hint} `turnout models` lists the known ones"
