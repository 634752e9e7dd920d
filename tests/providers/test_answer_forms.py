"""The form in which each model is asked for an answer, on Bedrock and elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import conversation, user
from tests.session.talk import events, session, shown

from turnout import render
from turnout.plain import loads
from turnout.providers.answer_forms import CLAUDE_ON_BEDROCK, answer_form
from turnout.session.events import Complete
from turnout.simulate import Call
from turnout.wire.check.names import CHECKERS

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
KEYS = {"AWS_BEARER_TOKEN_BEDROCK": "key", "AWS_REGION": "us-east-1"}


def body_for(to: str, **options: Any) -> Any:
    return loads(render(conversation(user("hi")), to, schema=SCHEMA, **options).body)


@pytest.mark.parametrize("name", CLAUDE_ON_BEDROCK)
@pytest.mark.parametrize("head", ["anthropic.", "us.anthropic.", "global.anthropic."])
def test_some_of_claude_takes_a_schema_on_bedrock(head: str, name: str) -> None:
    """Converse gets it as `outputConfig`, InvokeModel as `output_config`, and nothing is told in words."""
    model = f"{head}claude-{name}-20250929-v1:0"
    converse = body_for(f"bedrock:{model}")
    structure = converse["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert loads(structure["schema"])["properties"] == SCHEMA["properties"]
    invoke = body_for(f"bedrock@invoke:{model}")
    assert invoke["output_config"]["format"]["type"] == "json_schema"
    assert "system" not in converse and "system" not in invoke
    assert not [*CHECKERS["bedrock"](converse, model=model)]
    assert not [*CHECKERS["bedrock-invoke"](invoke, model=model)]


@pytest.mark.parametrize("name", ["opus-4-7", "opus-4-8", "sonnet-5", "opus-5", "opus-4-1", "3-7-sonnet"])
@pytest.mark.parametrize("place", ["bedrock", "bedrock@invoke"])
def test_the_others_of_claude_get_neither_a_schema_nor_strict_tools(place: str, name: str) -> None:
    """Bedrock refuses both with "Extra inputs are not permitted"."""
    tool = {"name": "look", "description": "Look.", "parameters": SCHEMA}
    body = body_for(f"{place}:us.anthropic.claude-{name}-v1:0", tools=[tool], strict=True)
    assert "outputConfig" not in body and "format" not in body.get("output_config", {})
    assert "'strict'" not in str(body["tools" if "tools" in body else "toolConfig"])


@pytest.mark.parametrize("model", ["openai.gpt-oss-120b-1:0", "moonshotai.kimi-k2.5"])
def test_open_models_on_bedrock_take_a_schema(model: str) -> None:
    """`outputConfig` is the same field for every maker."""
    assert answer_form("bedrock", model, has_tools=False) == "schema"
    assert "outputConfig" in body_for(f"bedrock:{model}")


@pytest.mark.parametrize(
    ("target", "reply"),
    [
        ("bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", '{"n": 3}'),
        ("bedrock:us.amazon.nova-pro-v1:0", Call("give_answer", {"n": 3})),
        ("bedrock:us.meta.llama3-3-70b-instruct-v1:0", '{"n": 3}'),
        ("bedrock:us.anthropic.claude-opus-5", '{"n": 3}'),
        ("bedrock@invoke:us.anthropic.claude-opus-5", '{"n": 3}'),
    ],
)
def test_a_typed_answer_comes_from_every_kind_of_model(target: str, reply: Any) -> None:
    """By schema, by a tool that must be called, or in words where a model cannot be forced to call one."""
    talk, line = session([[reply]], target, tools=[], environment=KEYS)
    seen = events(talk, schema=SCHEMA)
    assert isinstance(seen[-1], Complete), seen[-1]
    assert loads(shown(seen)) == {"n": 3}
    assert not line.refusals
