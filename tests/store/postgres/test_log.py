"""The log in PostgreSQL: leases by its clock, one writer over all machines."""

from __future__ import annotations

import time
from typing import Any

import pytest

from turnout.errors import SessionHeld
from turnout.model import Text
from turnout.store import SessionHeader, Store, holder
from turnout.store.postgres import log as log_module


def test_a_holder_on_another_host_keeps_its_session_until_its_lease_ends(database: str) -> None:
    """Its pid does not run here, and its boot is another: neither says that it is dead."""
    elsewhere = holder.replace(
        holder.this_process(), pid=2**22 + 1, place="boot of another/pid:[1]", machine="far", host="far"
    )
    with Store.at(database, heartbeat=False) as store:
        store.log.take(SessionHeader("s"), elsewhere, 0.5)
        with pytest.raises(SessionHeld, match="on far"):
            store.open("s")
        assert store.list()[0].holder == elsewhere
        time.sleep(0.6)
        assert store.list()[0].holder is None
        store.open("s")


def test_a_process_of_this_machine_that_has_ended_holds_nothing(database: str) -> None:
    """Same boot, same namespace, no such process: its session is free at once."""
    gone = holder.replace(holder.this_process(), pid=2**22 + 1)
    with Store.at(database, heartbeat=False) as store:
        store.log.take(SessionHeader("s"), gone, 1000)
        history = store.open("s")
        history.user("mine now")
        assert len(history.turns) == 1 and len(store.log.load("s").entries) == 1


def test_a_stale_writer_changes_nothing(database: str) -> None:
    """No entry, no title, no draft, no lease: once the next epoch has begun, the old one is over."""
    with Store.at(database, heartbeat=False, lease=0.2) as one, Store.at(database, heartbeat=False) as other:
        stale = one.open("s")
        stale.user("mine")
        time.sleep(0.3)
        other.open("s").user("theirs")
        before = other.log.load("s"), other.summary("s")
        with pytest.raises(SessionHeld, match="taken over by this process"):
            stale.user("too late")
        with pytest.raises(SessionHeld):
            one.journal("s")._backend.drafts.draft(one.journal("s").lease, b"{}")
        assert not one.log.renew(one.journal("s").lease)
        one.release("s")
        assert (other.log.load("s"), other.summary("s")) == before
        assert [turn.blocks for turn in other.read("s").turns] == [(Text("mine"),), (Text("theirs"),)]


def test_a_session_that_was_taken_and_released_meanwhile_is_taken(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process is first, and done, between our look and our taking it: that is no error."""
    with Store.at(database, heartbeat=False) as one, Store.at(database, heartbeat=False) as other:
        one.open("s")
        one.release("s")
        look, looks = log_module._read_free_holder, []

        def look_and_lose(connection: Any, session: str, asking: Any) -> Any:
            found = look(connection, session, asking)
            looks.append(found)
            if len(looks) == 1:
                monkeypatch.setattr(log_module, "_read_free_holder", look)
                other.open("s")
                monkeypatch.setattr(log_module, "_read_free_holder", look_then_release)
            return found

        def look_then_release(connection: Any, session: str, asking: Any) -> Any:
            other.release("s")
            looks.append(look(connection, session, asking))
            return looks[-1]

        monkeypatch.setattr(log_module, "_read_free_holder", look_and_lose)
        one.open("s")
        assert len(looks) == 2
