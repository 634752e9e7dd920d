"""Which process holds a session, and whether it still runs."""

from __future__ import annotations

import pytest

from turnout.errors import SessionHeld
from turnout.store import SessionHeader, Store, holder


def test_a_holder_is_known_by_more_than_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process number that is used again, a reboot, another container: what can be known is used."""
    me = holder.this_process()
    assert holder.is_lease_valid(me, 10.0, now=5.0)
    assert not holder.is_lease_valid(me, 10.0, now=11.0)
    assert not holder.is_lease_valid(holder.replace(me, born=me.born + 1), 10.0, now=5.0)
    rebooted = holder.replace(me, place="another boot/x", machine="m")
    monkeypatch.setattr(holder, "machine_name", lambda: "m")
    assert not holder.is_lease_valid(rebooted, 10.0, now=5.0, renewed=100.0, wall=100.0)
    elsewhere = holder.replace(
        me, pid=2**22 + 1, place=f"{holder.boot_of_namespace(me.place)}/another container"
    )
    assert holder.is_lease_valid(elsewhere, 10.0, now=5.0)
    assert not holder.is_lease_valid(elsewhere, 10.0, now=11.0)


def test_a_holder_on_another_machine_is_not_taken_for_dead() -> None:
    """Its clock and its pids mean nothing here; only an hour without a sign of life counts."""
    me = holder.this_process()
    far = holder.replace(me, pid=2**22 + 1, place="another boot/x", machine="another machine", host="far")
    for ahead in (-600.0, 0.0, 600.0):
        assert holder.is_lease_valid(far, 10.0, now=5e6, renewed=1e9, wall=1e9 + ahead)
    assert not holder.is_lease_valid(far, 10.0, now=5.0, renewed=1e9, wall=1e9 + 2 * holder.LONGEST)
    unknown = holder.replace(far, machine="")
    assert holder.is_lease_valid(unknown, 10.0, now=5.0, renewed=1e9, wall=1e9)
    assert not holder.has_ended(far)


def test_a_session_of_another_machine_stays_held(file_store: Store) -> None:
    """With a pid that does not run here, and a clock that says anything: it is open there."""
    store = file_store
    elsewhere = holder.replace(
        holder.this_process(1.0), pid=2**22 + 1, place="boot of another/x", machine="another", host="far"
    )
    lease = store.log.take(SessionHeader("s"), elsewhere, 30)
    with pytest.raises(SessionHeld, match=f"process {2**22 + 1} on far"):
        store.open("s")
    assert store.list()[0].holder == elsewhere
    store.log.release(lease)
    store.open("s")
