"""Calls with their one outcome, what is known of their approval, and when they ran."""

from __future__ import annotations

import msgspec

from turnout import History, Outcome, ToolCall
from turnout.history.waiting import APPROVED, WAITING, WaitingCall
from turnout.surfaces.shared.conversation_html.blocks import BlockWriter
from turnout.surfaces.shared.conversation_html.calls import CallView, CallWriter


def history_with_calls(*names: str) -> History:
    history = History("h")
    history.user("go")
    history.reply("openai:m", [ToolCall(f"c{at}", name, {"n": at}) for at, name in enumerate(names)])
    return history


def writer_of(history: History) -> CallWriter:
    return CallWriter(history, [100.0 + at for at in range(len(history.entries))], BlockWriter("/m"))


def views_of(history: History) -> list[CallView]:
    writer = writer_of(history)
    return [view for call in history.turns[-1].tool_calls if (view := writer.block(call).call)]  # type: ignore[union-attr]


def test_what_is_on_record_about_approval_is_shown() -> None:
    """A call waits, was approved later, was refused, ran with changed arguments, or was never asked about."""
    history = history_with_calls("waits", "approved", "refused", "changed", "plain")
    waits, approved, refused, changed, plain = (call.id for call in history.turns[-1].tool_calls)  # type: ignore[union-attr]
    for id in (waits, approved):
        history.note(WAITING, msgspec.to_builtins(WaitingCall("h", id, "x", {}, "approval")))
    history.note(APPROVED, {"call_id": approved})
    history.settle(refused, Outcome("denied", "no"))
    history.start(changed, {"n": 7})
    history.settle(changed, Outcome("complete", "done"))
    history.settle(plain, Outcome("complete", "done"))
    assert [view.approval for view in views_of(history)] == [
        "waits for approval",
        "approved",
        "not approved",
        "arguments were changed before it ran",
        "",
    ]


def test_bars_lie_within_the_batch() -> None:
    """Each bar begins and ends where its call did, in percent of the batch; others have none."""
    history = history_with_calls("a", "b", "never")
    first, second, _ = (call.id for call in history.turns[-1].tool_calls)  # type: ignore[union-attr]
    history.start(first)
    history.start(second)
    history.settle(first, Outcome("complete", "x"))
    history.settle(second, Outcome("error", "y"))
    bars = writer_of(history).timeline(history.turns[-1])  # type: ignore[arg-type]
    assert [(bar.name, bar.start, bar.width, bar.seconds, bar.status) for bar in bars] == [
        ("a", 0.0, 66.67, 2.0, "complete"),
        ("b", 33.33, 66.67, 2.0, "error"),
    ]


def test_a_command_is_shown_as_it_is_and_a_change_with_two_sides() -> None:
    """One text is its own block; a patch has colours; other arguments are JSON in one line."""
    history = History("h")
    history.user("go")
    blocks = [
        ToolCall("c1", "shell", {"command": "ls <a>"}),
        ToolCall("c2", "patch", {"patch": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "path": "a.py"}),
        ToolCall("c3", "grid", {"rows": [1, 2], "wide": True}),
    ]
    history.reply("openai:m", blocks)
    shell, patch, grid = (str(view.arguments) for view in views_of(history))
    assert "<code>ls &lt;a&gt;</code>" in shell
    assert '<span class="add">+y</span>' in patch and "<dt>path</dt><dd><code>a.py</code></dd>" in patch
    assert "<dt>wide</dt><dd><code>true</code></dd>" in grid
