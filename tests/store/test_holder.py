"""Which process holds a session, and whether it still runs."""

from __future__ import annotations

from pathlib import Path

from turnout.store import holder


def test_a_holder_is_known_by_more_than_its_number(quick_folder: Path) -> None:
    """A process number that is used again, a reboot, another container: what can be known is used."""
    me = holder.this_process()
    assert holder.is_lease_valid(me, 10.0, now=5.0)
    assert not holder.is_lease_valid(me, 10.0, now=11.0)
    assert not holder.is_lease_valid(holder.replace(me, born=me.born + 1), 10.0, now=5.0)
    assert not holder.is_lease_valid(holder.replace(me, place="another boot/x"), 10.0, now=5.0)
    elsewhere = holder.replace(
        me, pid=2**22 + 1, place=f"{holder.boot_of_namespace(me.place)}/another container"
    )
    assert holder.is_lease_valid(elsewhere, 10.0, now=5.0)
    assert not holder.is_lease_valid(elsewhere, 10.0, now=11.0)
