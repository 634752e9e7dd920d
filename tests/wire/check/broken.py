"""Every body of the checkers' own tests that breaks a rule: whose API it is for, which rule, the body."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.wire.check.anthropic import test_rules as test_anthropic_rules
from tests.wire.check.bodies import anthropic, gemini, responses, spoiled
from tests.wire.check.chat.bodies_chat import BAD
from tests.wire.check.gemini import test_rules as test_gemini_rules
from tests.wire.check.responses import test_rules as test_responses_rules

from turnout import check

GEMINI = "gemini:gemini-3-pro"


class Broken(NamedTuple):
    api: str
    rule: str
    body: dict[str, Any]


def _all() -> list[Broken]:
    found = [Broken(bad.api, bad.rule, bad.body) for bad in BAD]
    for api, good, rules in (
        ("anthropic", anthropic, test_anthropic_rules.BAD),
        (GEMINI, gemini, test_gemini_rules.BAD),
        ("openai-responses", responses, test_responses_rules.BAD),
    ):
        found += [Broken(api, rule, spoiled(good(), change)) for rule, change, _ in rules]
    found += [Broken("anthropic", rule, body) for rule, body, _ in test_anthropic_rules.BAD_ALONE]
    return found


BROKEN = [broken for broken in _all() if check(broken.api, broken.body)]
"""Those that are refused; warnings have tests of their own."""
