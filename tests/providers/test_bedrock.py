"""Bedrock's models as data: what the models of each maker take, by patterns of their names."""

from __future__ import annotations

import pytest

from turnout import UsageError
from turnout.providers.bedrock import PROVIDER
from turnout.targets.target import find_target
from turnout.wire.converse.dialect import ConverseDialect

ARN = "arn:aws:bedrock:us-east-1:012345678901:inference-profile/"


@pytest.mark.parametrize("head", ["", "us.", "eu.", "apac.", "global.", ARN + "us."])
def test_a_model_is_known_wherever_it_is_served(head: str) -> None:
    """A part of the world before its name, or an ARN around it, changes nothing."""
    place = find_target(f"bedrock:{head}anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert place.dialect == PROVIDER.speaks("anthropic.claude-sonnet-4-5")
    assert place.facts.context == 200_000 and place.facts.known


@pytest.mark.parametrize(
    ("model", "tools", "system", "thinking"),
    [
        ("anthropic.claude-v2", False, False, ""),
        ("anthropic.claude-3-haiku-20240307-v1:0", True, True, "claude"),
        ("us.amazon.nova-2-lite-v1:0", True, True, "nova"),
        ("amazon.nova-micro-v1:0", True, True, ""),
        ("amazon.titan-text-lite-v1", False, False, ""),
        ("meta.llama3-8b-instruct-v1:0", False, True, ""),
        ("us.meta.llama4-maverick-17b-instruct-v1:0", True, True, ""),
        ("mistral.mistral-7b-instruct-v0:2", False, False, ""),
        ("us.deepseek.r1-v1:0", False, True, ""),
        ("cohere.command-r-v1:0", True, True, ""),
        ("ai21.jamba-1-5-mini-v1:0", True, True, ""),
        ("openai.gpt-oss-120b-1:0", True, True, "effort"),
    ],
)
def test_makers_differ_in_what_they_take(model: str, tools: bool, system: bool, thinking: str) -> None:
    """Tools, system text, and how thinking is asked for."""
    place = find_target(f"bedrock:{model}")
    assert isinstance(place.dialect, ConverseDialect)
    found = (place.facts.tools, place.dialect.takes_system, place.dialect.thinking)
    assert found == (tools, system, thinking)


def test_the_region_fills_the_address() -> None:
    """From variables; us-east-1 is usual."""
    place = find_target("bedrock:amazon.nova-lite-v1:0", environment={"AWS_REGION": "eu-west-3"})
    assert place.provider.base_url == "https://bedrock-runtime.eu-west-3.amazonaws.com"
    usual = find_target("bedrock@invoke:anthropic.claude-sonnet-5", environment={})
    assert "us-east-1" in usual.provider.base_url


def test_invoke_model_is_for_claude() -> None:
    """Other makers have bodies of their own there; Converse serves them."""
    with pytest.raises(UsageError, match="does not support"):
        find_target("bedrock@invoke:amazon.nova-lite-v1:0")
