"""Hosts for tests: network namespaces, with process ids and a name of their own, on a cable to this machine.

They need root. Where the system does not permit them, the tests are skipped with its reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from msgspec import Struct


class Host(Struct, frozen=True):
    """A host: its name, the address of this machine as it sees it, and what starts a program there."""

    name: str
    gateway: str
    command: tuple[str, ...]

    def pull_cable(self) -> None:
        run_ip("link", "set", self.name, "down")

    def plug_cable(self) -> None:
        run_ip("link", "set", self.name, "up")


def run_ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=20)
    if done.returncode:
        raise OSError(done.stderr.strip() or f"ip {' '.join(words)} failed")


def need_programs(*names: str) -> None:
    """Skip where one of these programs is missing."""
    for name in names:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed (`apt install {'iproute2' if name == 'ip' else name}`)")


@contextmanager
def two_hosts() -> Iterator[list[Host]]:
    """Two hosts that reach this machine, and not each other."""
    need_programs("ip", "unshare")
    with ExitStack() as undo:
        hosts = []
        for number in (1, 2):
            try:
                hosts.append(_add_host(number, undo))
            except OSError as error:
                pytest.skip(f"network namespaces are not permitted here: {error}")
        yield hosts


def _add_host(number: int, undo: ExitStack) -> Host:
    # Names of interfaces have at most 15 characters; other tests may run beside these.
    name = f"tn{os.getpid() % 100000}{os.urandom(2).hex()}{number}"
    net = f"198.18.{os.urandom(1)[0]}"  # set aside for tests of networks (RFC 2544)
    place = (os.urandom(1)[0] // 4) * 4
    ours, theirs = f"{net}.{place + 1}", f"{net}.{place + 2}"
    run_ip("netns", "add", name)
    undo.callback(lambda: run_ip("netns", "del", name))
    run_ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
    run_ip("addr", "add", f"{ours}/30", "dev", name)
    run_ip("link", "set", name, "up")
    for words in (("addr", "add", f"{theirs}/30", "dev", "eth0"), ("link", "set", "eth0", "up")):
        run_ip("-n", name, *words)
    run_ip("-n", name, "link", "set", "lo", "up")
    apart = ("unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
    named = ("sh", "-c", 'hostname "$0" && exec "$@"', name)
    return Host(name, ours, ("ip", "netns", "exec", name, *apart, *named))
