"""The report of a render: ids that went out, results that were made, changes that were needed."""

from __future__ import annotations

from tests.build import call, conversation, model, settled, user

from turnout import transcript
from turnout.diagnostic import Diagnostic

HISTORY = conversation(user("go"), model(call("a"), call("b")), settled("a", "done"), user("never mind"))


def test_each_call_is_reported_with_the_id_that_the_target_gets() -> None:
    """Canonical ids on one side, projected ids on the other."""
    report = transcript(HISTORY, "mistral:mistral-large-latest").report

    assert len(report.calls) == 2 and len(report.results) == 2
    assert all(len(emitted.projected) == 9 for emitted in report.calls)


def test_results_that_never_came_are_named() -> None:
    """The second call has no outcome, so its result was made."""
    report = transcript(HISTORY, "openai:gpt-5.1").report

    assert [made.status for made in report.synthetic] == ["interrupted"]
    assert report.synthetic[0].call_id == report.calls[1].call_id


def test_changes_of_the_wire_are_listed_once() -> None:
    """The same change of several requests is one line; diagnostics are added at the end."""
    rendered = transcript(HISTORY, "openai:gpt-5.1")
    added = Diagnostic("wire", "some_code")

    report = rendered.report_with(["dropped x", "dropped x", "added y"], [added])

    assert report.changes == ("dropped x", "added y")
    assert report.diagnostics[-1] == added
