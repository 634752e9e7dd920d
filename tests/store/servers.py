"""A PostgreSQL server for tests: the programs of the system, a folder of its own, loopback only.

The server runs as a child of the tests, as a user without rights where the tests run as root.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

USERS = ("postgres", "nobody")
QUICK = ("fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=64MB")


def programs() -> Path | None:
    """The folder with `postgres` and `initdb`; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: path.parts[-3])
    beside = shutil.which("postgres")
    return found[-1].parent if found else Path(beside).parent if beside else None


class Server:
    """A server with a database `turnout`, whose user is trusted; `listen`: addresses besides loopback."""

    def __init__(self, *settings: str, listen: Sequence[str] = ()) -> None:
        folder = programs()
        if folder is None:
            skip_test("PostgreSQL is not installed (`apt install postgresql`)")
        self._programs = folder
        self.folder = Path(tempfile.mkdtemp(prefix="turnout-pg-"))
        self.port = free_port()
        self.settings = settings or QUICK
        self._addresses = ("127.0.0.1", *listen)
        self._user = _user_without_rights()
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        options = ["--auth=trust", "--username=turnout", "--no-sync", "--encoding=UTF8", "--locale=C"]
        self._run("initdb", f"--pgdata={self.folder}/data", *options).wait(60)
        for address in listen:
            with open(f"{self.folder}/data/pg_hba.conf", "a") as rules:
                rules.write(f"host all all {address}/30 trust\n")
        self.start()
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "turnout", "turnout").wait(30)

    @property
    def url(self) -> str:
        return self.url_of("turnout")

    def url_of(self, database: str) -> str:
        return f"postgresql://turnout@127.0.0.1:{self.port}/{database}"

    def new_database(self, name: str) -> str:
        """The address of a new, empty database."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[call-overload]
        return self.url_of(name)

    def start(self) -> None:
        options = [f"--{name}" for name in self.settings]
        self._process = self._run(
            "postgres",
            *("-D", f"{self.folder}/data", "-p", str(self.port), "-k", str(self.folder)),
            f"--listen_addresses={','.join(self._addresses)}",
            *options,
        )
        ends = time.monotonic() + 30
        while time.monotonic() < ends:
            try:
                import psycopg

                psycopg.connect(self.url_of("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise AssertionError("PostgreSQL did not start")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT is its fast shutdown, SIGQUIT an immediate one. Waiting frees its pid."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        self.stop(how)
        self.start()

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        user: dict[str, Any] = {}
        if self._user is not None:
            user = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        return subprocess.Popen(
            [self._programs / program, *arguments],
            cwd=self.folder,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **user,
        )


def _user_without_rights() -> Any:
    """Whom the server runs as: PostgreSQL refuses root. None: as whoever runs the tests."""
    if os.geteuid():
        return None
    for name in USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return skip_test("PostgreSQL refuses root, and there is no user `nobody`")


def skip_test(reason: str) -> NoReturn:
    import pytest  # the benchmarks use this server too, and have no pytest

    pytest.skip(reason)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
