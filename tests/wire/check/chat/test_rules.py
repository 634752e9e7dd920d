"""The Chat family's checkers: each rule has a body that it alone refuses, and good bodies pass."""

from __future__ import annotations

import json
import re
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wire.check.chat.bodies_chat import BAD, GOOD, Bad, body, call, called, loop, result, tool, user

import turnout.wire.check as package
from turnout.errors import UsageError
from turnout.wire.check import CHECKERS, NAMES, Problem, check

CHAT_RULES = re.compile(r'"((?:OPT|OAC|MIS|KIM|DSK|QWN|XAI|COP|ORT|VLL|LCP|OLL)-\d\d)"')
SOURCE = Path(package.__file__).parent
CHAT_FILES = (SOURCE / "model_limits.py", *sorted((SOURCE / "chat").glob("*.py")))
EXAMPLES = Path(__file__).parents[5] / "shared" / "rulebook" / "examples"


def applied() -> set[str]:
    """The rules that the checkers' own source names."""
    return {rule for path in CHAT_FILES for rule in CHAT_RULES.findall(path.read_text("utf-8"))}


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_a_bad_body_is_refused_by_its_rule_alone(bad: Bad) -> None:
    """One thing wrong, one rule: its answer is the provider's, and it says what to do."""
    problems = check(bad.api, bad.body)

    assert {problem.rule for problem in problems} == {bad.rule}
    assert any(bad.text in problem.answer for problem in problems)
    assert all(problem.advice for problem in problems)


def test_every_rule_has_a_bad_body() -> None:
    """Each rule that the source names is broken by a body of the table."""
    assert applied() - {bad.rule for bad in BAD} == set()


@pytest.mark.parametrize("name", GOOD)
def test_a_good_body_passes(name: str) -> None:
    """No rule finds a fault in a body that the API accepts."""
    api, good = GOOD[name]

    assert check(api, good) == []


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"no example bodies at {EXAMPLES}")
@pytest.mark.parametrize("name", ["openai_chat", "mistral", "kimi", "deepseek", "openrouter"])
def test_the_example_bodies_pass(name: str) -> None:
    """The examples of the rulebook break no rule."""
    example = json.loads((EXAMPLES / f"{name}.json").read_text("utf-8"))

    assert check(name, example) == []


def test_a_problem_says_where() -> None:
    """The path leads to the faulty value."""
    bad = body("gpt-4.1", user(), called(call("c" * 43)), result("c" * 43))

    assert [problem.path for problem in check("openai", bad)] == [
        "messages[1].tool_calls[0].id",
        "messages[2].tool_call_id",
    ]


def test_a_late_result_is_told_once() -> None:
    """The call was left unanswered; that its result comes later is the same fault."""
    late = body("gpt-4.1", user(), called(), user(), result())

    assert [problem.path for problem in check("openai", late)] == ["messages[1].tool_calls"]


@pytest.mark.parametrize(
    "names",
    [
        ("openai", "openai-chat", "chat", "OpenAI Chat", "openai_chat"),
        ("kimi", "moonshot", "moonshot_kimi"),
        ("llamacpp", "llama.cpp", "llama_cpp"),
        ("lmstudio", "LM Studio", "lm-studio"),
        ("qwen", "dashscope", "qwen_dashscope"),
        ("copilot", "github_copilot"),
    ],
)
def test_every_name_of_an_api_means_the_same(names: tuple[str, ...]) -> None:
    """Aliases, case and separators lead to the same checker."""
    bad = body("gpt-4.1", user(), result())

    assert len({tuple(check(name, bad)) for name in names}) == 1


def test_an_unknown_name_is_told_the_nearest() -> None:
    """The error suggests a known name."""
    with pytest.raises(UsageError, match="mistral"):
        check("mistrall", {})


def test_the_model_may_come_with_the_name() -> None:
    """provider:model names the model too."""
    bad = loop("")

    assert [p.rule for p in check("kimi:kimi-k2.6", bad)] == ["KIM-02"]
    assert [p.rule for p in check("kimi", bad, model="kimi-k2.6")] == ["KIM-02"]
    assert check("kimi", bad) == []


def test_a_body_with_input_is_a_responses_body() -> None:
    """Copilot serves newer models there, and whoever pastes a body need not know the difference."""
    bad = {"model": "gpt-5.6", "input": [{"type": "function_call_output", "call_id": "c", "output": "1"}]}

    assert {p.rule for p in check("copilot", bad)} == {p.rule for p in check("openai-responses", bad)}
    assert {p.rule[:3] for p in check("openai", bad)} == {"OAR"}


@pytest.mark.parametrize("value", ["", "{", b"\xff", "[]", "1", None, [], 3, "null", "[" * 100_000])
def test_what_is_no_object_is_one_problem(value: Any) -> None:
    """A body of another type gets a single problem."""
    assert [type(problem) for problem in check("openai", value)] == [Problem]


def test_text_and_bytes_are_read() -> None:
    """JSON text is parsed before it is checked."""
    bad = body("gpt-4.1", user(), result())

    assert (
        check("openai", json.dumps(bad)) == check("openai", json.dumps(bad).encode()) == check("openai", bad)
    )


KEYS = st.sampled_from(
    re.findall(
        r"\S+",
        "model messages role content tool_calls id type function name arguments tool_call_id tools "
        "tool_choice parameters properties required anyOf items $ref strict reasoning_details thinking "
        "reasoning prefix input contents parts functionCall system stream",
    )
)
WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "user assistant tool system function custom text thinking auto required object gpt-5.6 mistral "
        "kimi-k3 deepseek-v4 claude-haiku-4.5 gemini-3 qwen3-8b {} [] null",
    )
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", 3])
MESSAGES = st.fixed_dictionaries(
    {"role": ROLES},
    optional={
        "content": ANYTHING,
        "tool_calls": ANYTHING,
        "tool_call_id": ANYTHING,
        "reasoning_details": ANYTHING,
    },
)
BODIES = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGES | ANYTHING, max_size=4) | ANYTHING},
    optional={"model": WORDS, "tools": ANYTHING, "tool_choice": ANYTHING, "reasoning": ANYTHING},
)


@settings(max_examples=150, deadline=None)
@given(api=st.sampled_from(sorted(CHECKERS)), value=ANYTHING | BODIES)
def test_no_json_value_is_too_strange(api: str, value: Any) -> None:
    """A checker answers about whatever it is given."""
    assert all(isinstance(problem, Problem) for problem in check(api, value))


@settings(max_examples=100, deadline=None)
@given(
    api=st.sampled_from(sorted(CHECKERS)),
    bad=st.sampled_from(BAD),
    places=st.lists(st.integers(0, 60), min_size=1, max_size=3),
    value=ANYTHING,
)
def test_a_body_damaged_anywhere_is_still_judged(api: str, bad: Bad, places: list[int], value: Any) -> None:
    """No damaged value makes a checker raise."""
    damaged = json.loads(json.dumps(bad.body))
    for place in places:
        replace(damaged, place, value)

    assert all(isinstance(problem, Problem) for problem in check(api, damaged))


def replace(tree: Any, place: int, value: Any) -> None:
    """Put a value where the walk through the tree comes by at this step."""
    waiting, steps = [tree], 0
    while waiting:
        node = waiting.pop(0)
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        for key in keys:
            if steps == place:
                node[key] = value
                return
            steps += 1
            if isinstance(node[key], dict | list):
                waiting.append(node[key])


def test_a_deep_schema_is_walked_without_recursion() -> None:
    """A schema of any depth can be checked."""
    schema: dict[str, Any] = {"type": "object"}
    inner = schema
    for _ in range(3000):
        inner["properties"] = {"a": {"type": "object"}}
        inner = inner["properties"]["a"]

    assert check("kimi", body("kimi-k2", user(), tools=[tool(parameters=schema)])) == []


@pytest.mark.parametrize("api", sorted({NAMES[bad.api] for bad in BAD}))
def test_a_long_conversation_is_judged_in_one_walk(api: str) -> None:
    """Ten thousand messages take well under a second; a quadratic rule would take minutes."""
    turns = [
        message for n in range(2500) for message in (user(), *pair(n), {"role": "assistant", "content": "ok"})
    ]
    long = body("mistral-large-latest" if api == "mistral" else "m", *turns, user(), tools=[tool()])

    start = process_time()
    assert check(api, long) == []
    assert process_time() - start < 1.5


def pair(n: int) -> tuple[dict[str, Any], dict[str, Any]]:
    id = f"c{n:08}"
    return called(call(id), reasoning_content=None), result(id)
