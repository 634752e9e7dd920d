"""`turnout sandbox`: it proves what it says by trying, and calls nothing held that was not denied."""

from __future__ import annotations

import asyncio
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.tools.safety.another_user import needs_another_user, open_folder, run_as_nobody
from tests.tools.safety.boxes import needs_sandbox

from turnout.surfaces.cli import main
from turnout.tools.confine import process
from turnout.tools.confine.probes import KERNEL, NETWORK, ORDERS, PRIVILEGES, PROBES, READING, WRITING, Probe
from turnout.tools.confine.proof import Proof, prove_sandbox, sandbox_for_proof
from turnout.tools.confine.sandbox import Sandbox, Unconfined, sandbox_for
from turnout.tools.confine.workspace import WorkspaceFiles

__all__ = ["open_folder"]

ATTEMPTS = {probe.name for probe in PROBES}
AS_NOBODY = """
import asyncio, json, os
from turnout.tools.confine.proof import prove_sandbox
assert os.getuid() == 65534
print(json.dumps([[proof.name, proof.held, proof.detail] for proof in asyncio.run(prove_sandbox())]))
"""
# What an attempt needs that its stage does not give it: a machine with such a device, a cover to remove.
NOT_STAGED = {
    *(
        "read the passwords of the system",
        "find a secret in our environment",
        "read through another process's root",
    ),
    *("open the memory of the machine", "open the memory of the kernel", "see the devices of the machine"),
    *("write into the system", "write over a system setting", "write into the root folder"),
    *("remove the cover and make .git", "make such a program by fchmodat2", "make such a program by openat2"),
}
LOCAL = (
    "connect to a port of this machine",
    "connect to a unix socket outside",
    "connect to an abstract unix socket",
)
STAGED = [
    *(probe for probe in (*READING, *PRIVILEGES, *ORDERS, *WRITING) if probe.name not in NOT_STAGED),
    *(probe for probe in NETWORK if probe.name in LOCAL),
]


def openly(workspace: WorkspaceFiles) -> Any:
    """The supervisor alone: no box, and the processes outside in sight."""
    return partial(process.run_command, isolation="tree")


@needs_sandbox
def test_every_attempt_to_get_out_is_denied() -> None:
    """More than sixty of them, each by the kernel; and the sandbox is proven to be on."""
    proofs = asyncio.run(prove_sandbox())
    assert len([proof for proof in proofs if proof.name in ATTEMPTS]) == len(PROBES) >= 60
    assert [proof for proof in proofs if not proof.held] == []
    assert {"has its own net namespace", "runs with Seccomp 2", "leaves no file outside"} <= {
        proof.name for proof in proofs
    }


@needs_sandbox
@needs_another_user
def test_every_attempt_of_another_user_is_denied(open_folder: Path) -> None:
    """Where tests run as the superuser, the same once more as nobody."""
    proofs = json.loads(run_as_nobody(AS_NOBODY, open_folder))
    assert len([name for name, _, _ in proofs if name in ATTEMPTS]) == len(PROBES)
    assert [proof for proof in proofs if not proof[1]] == []


@pytest.mark.parametrize("probe", STAGED, ids=lambda probe: probe.name)
def test_an_attempt_succeeds_where_nothing_stops_it(probe: Probe) -> None:
    """Those that touch only their own stage, run openly: so that to be held means something."""
    proofs = {proof.name: proof for proof in asyncio.run(prove_sandbox(openly, [probe]))}
    assert proofs[probe.name].tried and not proofs[probe.name].held, proofs[probe.name]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser may")
def test_the_kernel_would_let_the_superuser() -> None:
    """Its settings can be opened for writing outside of the sandbox."""
    proofs = {proof.name: proof for proof in asyncio.run(prove_sandbox(openly, KERNEL))}
    assert not proofs["write any setting of the kernel"].held


def test_traces_are_found_whatever_a_probe_said() -> None:
    """A file left outside, and a program that runs as its owner."""
    lies = [
        Probe("lie about a file", "open(stage['outside'] + '/new', 'w'); raise PermissionError(1, 'no')"),
        Probe("lie about a mode", "os.chmod('a', 0o4755); raise PermissionError(1, 'no')"),
    ]
    proofs = {proof.name: proof.held for proof in asyncio.run(prove_sandbox(openly, lies))}
    assert proofs["lie about a file"] and proofs["lie about a mode"]
    assert not proofs["leaves no file outside"]
    assert not proofs["leaves no privileged program in the workspace with .git"]
    assert not proofs["has its own net namespace"]


@pytest.mark.parametrize(
    "code",
    [
        "nonsense",
        "1/0",
        "raise OSError(22, 'odd')",
        "raise OSError('none')",
        "os.kill(os.getpid(), 9)",
        "os._exit(0)",
    ],
)
def test_an_attempt_that_goes_wrong_is_not_called_held(code: str) -> None:
    """Whether it erred, ended in an odd way or was killed: nobody denied it, so nothing is proven."""
    [*_, proof] = [
        each for each in asyncio.run(prove_sandbox(openly, [Probe("try", code)])) if each.name == "try"
    ]
    assert (proof.held, proof.tried) == (False, False)


def test_no_attempt_harms_a_machine_that_does_not_stop_it() -> None:
    """A probe writes only to its stage; on the system it opens, and sets what is already so."""
    for probe in PROBES:
        writes = (
            "'w'" in probe.code or "'a'" in probe.code or ".write(" in probe.code or "O_CREAT" in probe.code
        )
        assert not (writes and any(place in probe.code for place in ("/etc", "/usr", "/dev", "/proc"))), (
            probe.name
        )
        for effect in ("settimeofday", "reboot", "rmtree", "kexec"):
            assert effect not in probe.code


# The command


@needs_sandbox
def test_turnout_sandbox_tells_and_proves() -> None:
    """What is in force, and that every attempt was denied."""
    done = CliRunner().invoke(main, ["sandbox", "."])
    assert done.exit_code == 0, done.output
    assert "bubblewrap" in done.output and "beneath the workspace" in done.output
    assert "held" in done.output and "ESCAPED" not in done.output and "NOT PROVEN" not in done.output


@needs_sandbox
def test_turnout_sandbox_calls_things_by_their_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """An escape and an attempt that went wrong are both told, and neither is counted as held."""

    async def proofs() -> list[Proof]:
        return [Proof("a", True), Proof("b", False, "out"), Proof("c", False, "NameError", tried=False)]

    monkeypatch.setattr("turnout.surfaces.cli.sandbox.prove_sandbox", proofs)
    done = CliRunner().invoke(main, ["sandbox", "."])
    assert done.exit_code == 1
    assert "3 checks, 1 held" in done.output
    assert "ESCAPED  b: out" in done.output and "NOT PROVEN  c: NameError" in done.output


def test_turnout_sandbox_says_when_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 3, and the reason."""
    monkeypatch.setattr(
        "turnout.surfaces.cli.sandbox.sandbox_for", lambda workspace: Unconfined("it is missing")
    )
    done = CliRunner().invoke(main, ["sandbox", "."])
    assert done.exit_code == 3
    assert "not confined, so every command asks: it is missing" in done.output


@needs_sandbox
def test_what_sessions_get_is_what_was_proven(tmp_path: Path) -> None:
    """The probes run in the same kind of box that commands run in."""
    with WorkspaceFiles(tmp_path) as workspace:
        assert type(sandbox_for_proof(workspace)) is type(sandbox_for(workspace)) is Sandbox
