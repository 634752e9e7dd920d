"""ask_user: a question to the user, and their answer."""

from __future__ import annotations

from ...model import Outcome
from ..declare.context import Question, ToolContext
from ..declare.result import error_outcome
from ..declare.tool import tool

CHOICES = 9


@tool(risk="read", paths=(), timeout=float("inf"), groups=("planning",), source="user")
async def ask_user(ctx: ToolContext, question: str, choices: list[str] | None = None) -> Outcome | str:
    """Ask the user something that only they can decide, and wait for the answer.

    Args:
        question: What you need to know, in one or two sentences.
        choices: Answers to choose from, if there are clear ones (at most 9). They may say something else.
    """
    if not question.strip():
        return error_outcome("The question is empty.")
    if choices and len(choices) > CHOICES:
        return error_outcome(f"{len(choices)} choices are too many; give at most {CHOICES}.")
    if ctx.ask is None:
        return error_outcome(
            "The user cannot be asked here. Decide yourself, and say in your answer what you assumed."
        )
    answer = await ctx.ask(Question(question, tuple(choices or ())))
    if answer is None:
        return error_outcome("The user did not answer. Continue without an answer, or ask in your reply.")
    return f"The user says: {answer}"
