"""Proof that the sandbox holds: puts things outside of it and tries to reach them from inside.

The secrets, sockets and processes outside are made for this. A probe that runs to its end is an
escape; so is any trace that it leaves outside. A probe that fails for a reason other than a denial
proves nothing, and does not count as held.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from msgspec import Struct

from . import process
from .probes import DENIALS, PROBES, RUNNER, Probe
from .process import Spawn
from .sandbox import sandbox_for
from .syscalls import DENIED
from .workspace import WorkspaceFiles

SECRET = "the canary sings\n"
CANARIES = {"PATH": "/usr/bin:/bin", "TURNOUT_CANARY": SECRET}
SECONDS = 60.0


class Proof(Struct, frozen=True):
    """The result of one attempt: whether the sandbox held, and the message.

    `tried` is False when the attempt itself did not work: then nothing is proven.
    """

    name: str
    held: bool
    detail: str = ""
    tried: bool = True


def sandbox_for_proof(workspace: WorkspaceFiles) -> Spawn:
    """The sandbox as sessions use it, with the Python that tries the probes."""
    return sandbox_for(workspace, readable=(sys.base_prefix,))


async def prove_sandbox(
    make: Callable[[WorkspaceFiles], Spawn] = sandbox_for_proof, probes: Sequence[Probe] = PROBES
) -> list[Proof]:
    """Try every probe in the sandbox that `make` gives for a workspace, and look for traces."""
    with _stage() as stage:
        proofs: list[Proof] = []
        for without in (False, True):
            chosen = [probe for probe in probes if probe.without == without]
            if chosen:
                proofs += await _try_probes(make, stage, chosen, _workspace(stage, without))
        return [*proofs, *_traces(stage)]


async def _try_probes(
    make: Callable[[WorkspaceFiles], Spawn], stage: dict[str, Any], probes: Sequence[Probe], root: Path
) -> list[Proof]:
    request = {**stage, "root": str(root), "probes": [(probe.name, probe.code) for probe in probes]}
    output = bytearray()
    with WorkspaceFiles(root) as workspace:
        folder = workspace.directory()
        try:
            finished = await make(workspace)(
                [os.path.realpath(sys.executable), "-I", "-S", "-c", RUNNER, json.dumps(request)],
                folder=folder,
                environment=process.environment({**CANARIES, "HOME": str(stage["home"])}),
                timeout=SECONDS,
                on_output=output.extend,
            )
        finally:
            os.close(folder)
    lines = output.decode(errors="replace").splitlines()
    if finished.code != 0 or len(lines) != len(probes) + 1:
        detail = "\n".join(lines[-3:])[:300] or f"it ended with {finished.code}"
        return [Proof("run the probes", False, detail, tried=False)]
    on = [] if any(probe.without for probe in probes) else _is_on(json.loads(lines[0]))
    return [*on, *(_proof(*json.loads(line)) for line in lines[1:])]


def _proof(name: str, end: str, detail: str, number: int | None = None) -> Proof:
    """A probe is held if the system denied it; one that got through or went wrong is not."""
    if end == "through":
        return Proof(name, False, f"it got through {detail}".rstrip())
    denied = end == "error" and number is not None and errno.errorcode.get(number) in DENIALS
    return Proof(name, denied, detail, tried=denied)


def _is_on(facts: dict[str, Any]) -> Iterator[Proof]:
    """That the sandbox was on at all; without that the probes prove nothing."""
    for name, inside in facts["namespaces"].items():
        yield Proof(f"has its own {name} namespace", inside != os.readlink(f"/proc/self/ns/{name}"), inside)
    for name, wanted in {"NoNewPrivs": "1", "Seccomp": "2", "CapEff": "0" * 16}.items():
        yield Proof(f"runs with {name} {wanted}", facts.get(name) == wanted, str(facts.get(name)))


def _traces(stage: dict[str, Any]) -> Iterator[Proof]:
    """What an escape would have left outside, whatever the probe reported."""
    outside = Path(stage["outside"])
    names = {path.name for path in outside.iterdir()}
    yield Proof("leaves no file outside", names == {"secret", "socket"}, ", ".join(sorted(names)))
    intact = (outside / "secret").exists() and (outside / "secret").read_text() == SECRET
    yield Proof("leaves the secret as it was", intact)
    for root in (Path(stage["base"], "with"), Path(stage["base"], "without")):
        powerful = [path.name for path in root.rglob("*") if path.lstat().st_mode & 0o6000]
        yield Proof(
            f"leaves no privileged program in the workspace {root.name} .git", not powerful, str(powerful)
        )
        found = sorted(path.name for path in root.glob(".git/hooks/*")) + sorted(
            path.name for path in root.glob(".turnout/*")
        )
        yield Proof(
            f"leaves no orders in the workspace {root.name} .git", found in ([], ["sample"]), str(found)
        )


@contextmanager
def _stage() -> Iterator[dict[str, Any]]:
    base = Path(mkdtemp(prefix="turnout-prove-"))
    victim = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], env={})
    listeners = [socket.create_server(("127.0.0.1", 0))]
    try:
        (base / "outside").mkdir()
        (base / "outside/secret").write_text(SECRET)
        _home(base / "home")
        abstract = f"turnout-{os.path.basename(base)}"
        for address in (str(base / "outside/socket"), f"\0{abstract}"):
            listeners.append(socket.socket(socket.AF_UNIX))
            listeners[-1].bind(address)
            listeners[-1].listen()
        yield {
            "base": str(base),
            "outside": str(base / "outside"),
            "home": str(base / "home"),
            "port": listeners[0].getsockname()[1],
            "abstract": abstract,
            "victim": victim.pid,
            "add_key": DENIED["add_key"][platform.machine() == "aarch64"],
        }
    finally:
        for listener in listeners:
            listener.close()
        victim.kill()
        victim.wait()
        shutil.rmtree(base, ignore_errors=True)


def _home(home: Path) -> None:
    for name in (
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".config/turnout/config.toml",
        ".local/share/turnout/sessions.db",
    ):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(SECRET)


def _workspace(stage: dict[str, Any], without: bool) -> Path:
    root = Path(stage["base"], "without" if without else "with")
    root.mkdir()
    (root / "a").write_text("{}")
    (root / "mountpoint").mkdir()
    (root / "link").symlink_to(stage["outside"])
    if not without:
        (root / ".git/hooks").mkdir(parents=True)
        (root / ".git/hooks/sample").write_text("")
        (root / ".git/config").write_text("")
        (root / ".mcp.json").write_text("{}")
    return root
