"""ask_user: a question to the person at the other end, and their answer."""

from __future__ import annotations

from ...model import Outcome
from ..declare.context import Question, ToolContext
from ..declare.tool import tool
from .explain import failed

CHOICES = 9


@tool(risk="read", paths=(), timeout=float("inf"), groups=("planning",), source="user")
async def ask_user(ctx: ToolContext, question: str, choices: list[str] | None = None) -> Outcome | str:
    """Ask the user something that only they can decide, and wait for the answer.

    Args:
        question: What you need to know, in one or two sentences.
        choices: Answers to choose from, if there are clear ones (at most 9). They may say something else.
    """
    if not question.strip():
        return failed("The question is empty.")
    if choices and len(choices) > CHOICES:
        return failed(f"{len(choices)} choices are too many; give at most {CHOICES}.")
    if ctx.ask is None:
        return failed("Nobody can be asked here. Decide yourself, and say in your answer what you assumed.")
    answer = await ctx.ask(Question(question, tuple(choices or ())))
    if answer is None:
        return failed("The user did not answer. Go on without, or ask in your reply.")
    return f"The user says: {answer}"
