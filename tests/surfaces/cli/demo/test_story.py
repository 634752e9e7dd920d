"""The story of the demo, as data."""

from __future__ import annotations

from turnout.surfaces.cli.demo.story import EVENTS, STORY


def test_everything_that_can_go_wrong_happens_once() -> None:
    """Each event of the list is in exactly one step."""
    assert sorted(step.event for step in STORY if step.event) == sorted(EVENTS)


def test_every_prompt_is_different() -> None:
    """The scripted model finds its step by the prompt."""
    assert len({step.prompt for step in STORY}) == len(STORY)


def test_the_last_step_returns_to_the_first_provider() -> None:
    """It gets a history to which eleven other providers have added."""
    assert STORY[0].target == STORY[-1].target
    assert len({step.target.partition(":")[0] for step in STORY}) == 12
