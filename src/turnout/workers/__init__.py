"""Runs that any worker on any machine finishes: submit a prompt, list runs, answer, cancel.

    run = await turnout.workers.submit(store, "Tidy the notes.", session="notes", key="p1")
    result = await turnout.workers.wait(store, run.id)

The engine is DBOS Transact, on the store's own PostgreSQL (`turnout[dbos]`). The log of the session is the
state; the engine only keeps the intent to finish a prompt. `engine` is the adapter, `prompt_work` what a
worker does with one prompt, `worker` the process, `submitting` what others call.
Imports `session` and `store`.
"""

from .submitting import RunLine, SubmittedRun, answer, cancel, runs, submit, wait

__all__ = ["RunLine", "SubmittedRun", "answer", "cancel", "runs", "submit", "wait"]
