"""The log in PostgreSQL: leases by its clock, one writer over all machines."""

from __future__ import annotations

import time

import pytest

from turnout.errors import SessionHeld
from turnout.model import Text
from turnout.store import SessionHeader, Store, holder


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
