"""What gateways share in PostgreSQL: states by conversation, bounded, and what keys have used."""

from __future__ import annotations

import threading

from turnout.store.client_usage import ClientUsage
from turnout.store.postgres.gateway_state import PostgresGatewayState

DAY = 86400.0


def test_what_one_remembers_another_recalls(database: str) -> None:
    """By conversation and name; a later state of the same name counts."""
    one, other = PostgresGatewayState(database, 10**6), PostgresGatewayState(database, 10**6)
    one.remember("a", "x", b"first")
    one.remember("a", "x", b"second")
    one.remember("a", "y", b"\x00\xff")
    one.remember("b", "x", b"other")
    assert other.recall("a") == {"x": b"second", "y": b"\x00\xff"} and other.recall("c") == {}
    assert other.recall_one("b", "x") == b"other" and other.recall_one("b", "y") is None
    one.close(), other.close()


def test_the_oldest_states_go_first(database: str) -> None:
    """Beyond the limit in bytes, whoever wrote them, also when two gateways prune at the same time."""
    tables = [PostgresGatewayState(database, 10_000) for _ in range(2)]
    for number in range(30):
        tables[number % 2].remember("a", f"{number:02}", b"x" * 1000)
    pruning = [threading.Thread(target=each.prune) for each in tables]
    for thread in pruning:
        thread.start()
    for thread in pruning:
        thread.join()
    left = sorted(tables[0].recall("a"))
    assert left == [f"{number:02}" for number in range(23, 30)]
    for each in tables:
        each.close()


def test_usage_is_the_sum_of_all_gateways(database: str) -> None:
    """Since a day; another key's use does not count."""
    tables = [PostgresGatewayState(database, 10**6) for _ in range(2)]
    for each in tables:
        each.add_usage(
            {
                ("ci", "1970-01-02"): ClientUsage(1, 10, 0.5),
                ("ci", "1970-01-03"): ClientUsage(2, 20, 1.0),
                ("me", "1970-01-03"): ClientUsage(9, 9, 9.0),
            }
        )
    asked = [("ci", 0.0), ("ci", 2 * DAY), ("nobody", 0.0)]
    assert tables[0].read_usage(asked) == [ClientUsage(6, 60, 3.0), ClientUsage(4, 40, 2.0), ClientUsage()]
    for each in tables:
        each.close()
