"""The rules of the rulebook that no checker applies, each with the reason.

One body shows most of what a provider refuses; what is listed here it cannot show,
or nobody has seen the provider refuse it. Every rule is either applied or listed.
"""

CHAT: dict[str, str] = {}

RESPONSES: dict[str, str] = {}

ANTHROPIC: dict[str, str] = {}

GEMINI: dict[str, str] = {}

OTHERS: dict[str, str] = {}

UNCHECKED: dict[str, str] = {**CHAT, **RESPONSES, **ANTHROPIC, **GEMINI, **OTHERS}
