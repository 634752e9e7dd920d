"""What happens in the demo: one conversation in a small folder, another provider at every turn.

The models are scripted; the tools, the files, the scheduler, the store and the judges are not.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ....model import ModelTurn, UserTurn
from ....simulate import Asked, Call, HttpError, Say, Think

FILES = {
    "README.md": "# Cassette\n\nA tiny player. Run `python player.py`.\n",
    "player.py": 'from tape import Tape\n\n\ndef main():\n    print(Tape("B-side").title())\n\n\nmain()\n',
    "tape.py": "class Tape:\n    def __init__(self, name):\n        self.name = name\n\n"
    "    def title(self):\n        return self.nam  # TODO: typo\n",
}

Event = Literal["", "deny", "cancel", "crash", "approve", "failover"]


class Step(Struct, frozen=True):
    """One prompt: who is asked, what the model does round by round, and what goes wrong."""

    target: str
    prompt: str
    rounds: tuple[tuple[Any, ...], ...]
    event: Event = ""
    fallback: str = ""


STORY = (
    Step(
        "anthropic:claude-sonnet-4-5",
        "What is in this folder?",
        (
            (
                Think("I look at everything at once."),
                Call("list_directory", {"path": "."}),
                Call("read_file", {"path": "README.md"}),
                Call("codebase_overview", {}),
            ),
            (Think("A player and a tape."), Say("A tiny tape player: player.py uses tape.py.")),
        ),
    ),
    Step(
        "openai:gpt-5.1",
        "Read both Python files.",
        (
            (Call("read_file", {"path": "player.py"}), Call("read_file", {"path": "tape.py"})),
            (Say("player.py prints the title of a Tape; title() reads self.nam, which does not exist."),),
        ),
    ),
    Step(
        "gemini:gemini-3-pro",
        "Run it and show me the error.",
        (
            (Think("It will fail."), Call("shell", {"command": "python player.py"})),
            (Say("You refused to run it, so I can only tell from reading: an AttributeError."),),
        ),
        event="deny",
    ),
    Step(
        "mistral:mistral-large-latest",
        "Search for TODOs, and wait for the slow index.",
        ((Call("grep", {"pattern": "TODO"}), Call("slow_index", {})),),
        event="cancel",
    ),
    Step(
        "kimi:kimi-k2.5",
        "Then at least look once more.",
        (
            (Think("Both again."), Call("read_file", {"path": "tape.py"}), Call("crash_here", {})),
            (
                Think("That was a crash."),
                Say("The process died in a tool; what it did is unknown. tape.py is read."),
            ),
        ),
        event="crash",
    ),
    Step(
        "deepseek:deepseek-reasoner",
        "Fix the typo.",
        (
            (
                Think("self.nam should be self.name."),
                Call(
                    "edit_file",
                    {"path": "tape.py", "old_text": "self.nam  # TODO: typo", "new_text": "self.name"},
                ),
            ),
            (Think("Done."), Say("Fixed: title() returns self.name.")),
        ),
        event="approve",
    ),
    Step(
        "gemini:gemini-3-pro",
        "Check that the fix is there.",
        (
            (Think("Read it back."), Call("grep", {"pattern": "self.name"})),
            (Say("Yes: tape.py now returns self.name."),),
        ),
        event="failover",
        fallback="openrouter:anthropic/claude-sonnet-4.5",
    ),
    Step(
        "openai-responses:gpt-5.1",
        "Look at everything once more.",
        (
            (
                Think("Back again."),
                Call("list_directory", {"path": "."}),
                Call("read_file", {"path": "tape.py"}),
            ),
            (Think("All there."), Say("Three files, and tape.py is right.")),
        ),
    ),
    Step(
        "anthropic:claude-sonnet-4-5",
        "Sum up what we did.",
        (
            (
                Think("All of it."),
                Say("We explored, were refused once, stopped once, crashed once, and fixed tape.py."),
            ),
        ),
    ),
)


def answers(asked: Asked) -> Any:
    """What the scripted model says to a request: the round of the step that the prompt names."""
    step = next((step for step in STORY if step.prompt == asked.user), None)
    if step is None:
        return "I have nothing to say to that."
    if step.event == "failover" and asked.provider != step.fallback.partition(":")[0]:
        return HttpError("overloaded")
    return list(step.rounds[min(_rounds(asked), len(step.rounds) - 1)])


def _rounds(asked: Asked) -> int:
    """How often the model has spoken since the user did."""
    spoken = 0
    for turn in reversed(asked.history.turns):
        if isinstance(turn, UserTurn):
            break
        spoken += isinstance(turn, ModelTurn)
    return spoken
