"""What happens in the demo: one conversation in a small folder, another provider at every turn.

The models are scripted; the tools, the files, the scheduler, the store and the judges are not.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ....model import UserTurn
from ....simulate import Call, HttpError, SimulatedRequest, Think

FILES = {
    "README.md": "# Cassette\n\nA tiny player. Run `python player.py`.\n",
    "player.py": 'from tape import Tape\n\n\ndef main():\n    print(Tape("B-side").title())\n\n\nmain()\n',
    "tape.py": "class Tape:\n    def __init__(self, name):\n        self.name = name\n\n"
    "    def title(self):\n        return self.nam  # TODO: typo\n",
}
EVENTS = {
    "deny": "the user refuses a call",
    "cancel": "the user stops a tool that takes too long",
    "crash": "the process is killed in the middle of a tool; the next one resumes from the store",
    "approve": "the user approves an edit",
    "failover": "this provider is overloaded; the next one takes over",
}
LIST = Call("list_directory", {"path": "."})
READ = Call("read_file", {"path": "tape.py"})
EDIT = {"path": "tape.py", "old_text": "self.nam  # TODO: typo", "new_text": "self.name"}


class DemoStep(Struct, frozen=True):
    """One prompt: who is asked, what the model calls and then says, and what goes wrong."""

    target: str
    prompt: str
    calls: list[Call]
    answer: str = ""
    event: str = ""
    fallback: str = ""


STORY = (
    DemoStep(
        "anthropic:claude-sonnet-5",
        "What is in this folder?",
        [LIST, Call("read_file", {"path": "README.md"}), Call("codebase_overview", {})],
        "A tiny tape player: player.py uses tape.py.",
    ),
    DemoStep(
        "openai:gpt-5.2",
        "Read both Python files.",
        [Call("read_file", {"path": "player.py"}), READ],
        "player.py prints the title of a Tape; title() reads self.nam, which does not exist.",
    ),
    DemoStep(
        "gemini:gemini-3.8-flash",
        "Run it and show me the error.",
        [Call("shell", {"command": "python player.py"})],
        "You refused to run it, so I can only tell from reading: an AttributeError.",
        "deny",
    ),
    DemoStep(
        "mistral:mistral-large-latest",
        "Search for TODOs, and wait for the slow index.",
        [Call("grep", {"pattern": "TODO"}), Call("slow_index", {})],
        event="cancel",
    ),
    DemoStep(
        "kimi:kimi-k3",
        "Then at least look once more.",
        [READ, Call("crash_here", {})],
        "The process died in a tool; what it did is unknown. tape.py is read.",
        "crash",
    ),
    DemoStep(
        "bedrock:us.anthropic.claude-sonnet-5",
        "What was the typo?",
        [READ],
        "title() reads self.nam, and the field is self.name.",
    ),
    DemoStep(
        "deepseek:deepseek-v4-pro",
        "Fix the typo.",
        [Call("edit_file", EDIT)],
        "Fixed: title() returns self.name.",
        "approve",
    ),
    DemoStep(
        "gemini:gemini-3.8-flash",
        "Check that the fix is there.",
        [Call("grep", {"pattern": "self.name"})],
        "Yes: tape.py now returns self.name.",
        "failover",
        "openrouter:anthropic/claude-sonnet-5",
    ),
    DemoStep(
        "cohere:command-a-03-2025",
        "Who uses Tape?",
        [Call("grep", {"pattern": "Tape"}), LIST],
        "Only player.py does.",
    ),
    DemoStep(
        "azure:gpt-5.2",
        "Is the README still right?",
        [Call("read_file", {"path": "README.md"})],
        "Yes: player.py is the program to run.",
    ),
    DemoStep(
        "vertex:claude-sonnet-5",
        "Count the lines of tape.py.",
        [READ],
        "Six lines.",
    ),
    DemoStep(
        "ollama:qwen3",
        "Read the player too.",
        [Call("read_file", {"path": "player.py"})],
        "It prints the title of the B-side.",
    ),
    DemoStep(
        "openai-responses:gpt-5.2",
        "Look at everything once more.",
        [LIST, READ],
        "Three files, and tape.py is right.",
    ),
    DemoStep(
        "anthropic:claude-sonnet-5",
        "Sum up what we did.",
        [],
        "We explored, were refused, stopped and crashed once, and fixed tape.py.",
    ),
)


def answers(asked: SimulatedRequest) -> Any:
    """What the scripted model says to a request: it thinks, then calls; once it has called, it answers."""
    step = next(step for step in STORY if step.prompt == asked.user)
    if step.event == "failover" and not step.fallback.startswith(f"{asked.provider}:"):
        return HttpError("overloaded")
    if step.calls and isinstance(asked.history.turns[-1], UserTurn):
        return [Think("I look first."), *step.calls]
    return [Think("That is all."), step.answer]
