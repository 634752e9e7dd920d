"""What others leave for a session in PostgreSQL: the first answer counts, over all connections."""

from __future__ import annotations

import threading

from turnout.errors import UsageError
from turnout.history.waiting import WaitingCall, note_waiting
from turnout.model import ToolCall
from turnout.store import Store


def test_of_many_answers_at_the_same_time_the_first_counts(database: str) -> None:
    """Ten processes answer one call: one is heard, nine are told that it has an answer."""
    refused: list[str] = []

    def answer(store: Store, number: int) -> None:
        try:
            store.answer("s", call.id, f"answer {number}")
        except UsageError as error:
            refused.append(str(error))

    with Store.at(database, heartbeat=False) as store:
        history = store.open("s")
        (call,) = history.reply("openai:gpt-5.1", [ToolCall("a", "pay", {})]).tool_calls
        note_waiting(history, WaitingCall("s", call.id, "pay", {}))
        stores = [Store.at(database, heartbeat=False) for _ in range(10)]
        threads = [threading.Thread(target=answer, args=each) for each in zip(stores, range(10), strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 9 and all("has an answer already" in each for each in refused)
        assert store.backend.waiting_calls.list_answered() == [("s", call.id)]
        for each in stores:
            each.close()
