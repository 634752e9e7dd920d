"""What came of one prompt at one target, as a value and as a line of a file."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import ProviderError, StreamError, TurnoutError
from ..model import Usage
from ..session.answer import Answer
from ..session.events import Failed
from .item import PoolItem
from .job import Job


class PoolResult(Struct, frozen=True, kw_only=True):
    """The answer to one prompt of one target, or why there is none.

    `output` is the typed value where one was asked for. `earlier`: the answer is from the results file, and
    nothing was asked.
    """

    id: str
    key: str
    target: str
    prompt: Any
    text: str = ""
    output: Any = None
    stop: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    error: Exception | None = None
    earlier: bool = False
    meta: Any = None

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer; else `error` says why not."""
        return self.error is None


class ResultError(Struct, frozen=True):
    """Why a prompt has no answer, as it is written down."""

    kind: str
    message: str


class ResultLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the results file."""

    id: str
    key: str
    target: str
    prompt: str
    text: str = ""
    output: Any = None
    stop: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    error: ResultError | None = None
    meta: Any = None


def result_of_answer(job: Job, answer: Answer[Any]) -> PoolResult:
    """The answer as a result; its target is the one that gave it."""
    return PoolResult(
        id=job.id,
        key=job.key,
        target=job.target_name or str(answer.turn.origin),
        prompt=job.item.prompt,
        text=answer.text,
        output=answer.output,
        stop=answer.turn.stop,
        usage=answer.usage,
        cost=answer.cost,
        meta=job.item.meta,
    )


def result_line(result: PoolResult) -> str:
    """The result as one line of JSON."""
    line = ResultLine(
        id=result.id,
        key=result.key,
        target=result.target,
        prompt=PoolItem(prompt=result.prompt).text,
        text=result.text,
        output=_plain_output(result),
        stop=result.stop,
        usage=result.usage,
        cost_usd=result.cost,
        error=_written_error(result.error) if result.error is not None else None,
        meta=result.meta,
    )
    return json.dumps(msgspec.to_builtins(line, enc_hook=str), ensure_ascii=False)


def _plain_output(result: PoolResult) -> Any:
    """The typed value as JSON; pydantic models write themselves."""
    output = result.output
    if hasattr(output, "model_dump"):
        return output.model_dump(mode="json")
    return msgspec.to_builtins(output, enc_hook=_dump_model)


def _dump_model(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)


def _written_error(error: Exception) -> ResultError:
    return ResultError(error_kind(error), str(error))


def error_kind(error: Exception) -> str:
    """One word for what went wrong: `rate_limit`, `auth`, `usage`, …"""
    if isinstance(error, ProviderError | StreamError):
        return error.kind
    return Failed(error).kind if isinstance(error, TurnoutError) else type(error).__name__
