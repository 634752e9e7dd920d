"""Commands in a box: bubblewrap gives them a system of their own with little in it.

Inside, the system is read-only, /tmp and the home folder are empty and private, other
processes do not exist, and there is no network unless the user allows it. The workspace
is the one place that can be written, but for what other programs take orders from: `.git`
with its hooks and settings, and our own project settings. These are covered also where
they are missing, so that nobody can make them. What is visible is a list; all else is not.

A command that only reads sees the workspace read-only (`reading`), so that a wrong
judgement of it cannot do harm. Where bubblewrap does not work, `Unconfined` stands in its
place: it runs commands openly and says so, and policy then asks about each.

Not covered: a socket that someone outside opened inside the workspace can be spoken to,
and a linked git worktree cannot see its repository.
"""

from __future__ import annotations

import os
import platform
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from functools import cache, partial
from tempfile import NamedTemporaryFile
from typing import Protocol

from . import process
from .beneath import Refused
from .denied import Denied
from .placeholder import is_empty, placeholder
from .process import Finished, OnOutput
from .syscalls import filter_for
from .threads import in_daemon
from .workspace import Workspace

PLACES = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
ETC = (
    *("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives"),
    *("localtime", "timezone", "os-release", "debian_version", "ssl/certs", "ssl/openssl.cnf", "pki"),
    *("ca-certificates", "mime.types", "magic", "services", "protocols", "terminfo", "fonts", "java"),
)
NETWORK_ETC = ("resolv.conf", "hosts", "host.conf", "gai.conf")
HOME_SECRETS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".netrc", ".npmrc"),
    *(".pypirc", ".git-credentials", ".config/gcloud", ".config/gh", ".config/turnout"),
    *(".local/share/turnout", ".local/state/turnout", ".bash_history", ".mozilla", ".config/google-chrome"),
)
HOME_TOOLS = (
    *(
        ".local/bin",
        ".local/lib",
        ".local/share/uv",
        ".local/share/mise",
        ".pyenv",
        ".rbenv",
        ".nvm",
        ".volta",
    ),
    *(".cargo/bin", ".cargo/registry", ".rustup", ".asdf", ".sdkman", ".bun", ".deno", ".ghcup", "go"),
    *("miniconda3", "anaconda3", "miniforge3"),
)
"""Where people keep compilers and interpreters of their own: to be seen, not changed."""
COVERED = (".git", ".turnout")
"""Folders of the workspace that others take orders from: read-only, also when they are missing."""
COVERED_FILES = (".mcp.json",)
"""Files of that kind: read-only when they are there."""

COVERED_MOST = 2_000  # places that rules deny; bubblewrap takes no more words
READING_ROOM = 256 * 1024 * 1024  # bytes in each private folder of a command that only reads

OPEN = "no sandbox is in force, so it can reach whatever you can"


class Confined(Protocol):
    """A way to run commands that says how far they can reach."""

    confines: bool
    network: bool
    note: str

    async def __call__(
        self,
        command: Sequence[str],
        *,
        folder: int,
        environment: Mapping[str, str],
        timeout: float | None = None,
        on_output: OnOutput = ...,
        keep_open: Sequence[int] = ...,
    ) -> Finished: ...


class Unconfined:
    """Runs commands without a box. `note` says why there is none."""

    confines = False
    network = True

    def __init__(self, note: str) -> None:
        self.note = note

    async def __call__(
        self,
        command: Sequence[str],
        *,
        folder: int,
        environment: Mapping[str, str],
        timeout: float | None = None,
        on_output: OnOutput = lambda data: None,
        keep_open: Sequence[int] = (),
    ) -> Finished:
        return await process.run(
            command,
            folder=folder,
            environment=environment,
            timeout=timeout,
            on_output=on_output,
            keep_open=keep_open,
        )


class Sandbox:
    """Runs commands of one workspace in a box. `readable` are further folders to see, `hidden`
    paths that stay out of sight wherever they are.

    Use `confined(...)` to get one: it looks first whether the machine can do it.
    """

    confines = True
    note = ""

    def __init__(
        self,
        workspace: Workspace,
        *,
        network: bool = False,
        readable: Sequence[str] = (),
        hidden: Sequence[str] = (),
        program: str = PLACES[0],
    ) -> None:
        self.workspace, self.network, self.program = workspace, network, program
        saved = [workspace.saved.folder] if workspace.saved else []
        self.readable = tuple(os.path.abspath(folder) for folder in (*readable, *saved))
        self.hidden = tuple(os.path.abspath(path) for path in hidden)
        self.denied: Denied | None = None

    def covering(self, denied: Denied) -> Sandbox:
        """The same box, in which what rules deny has no content."""
        box = copy(self)
        box.denied = denied
        return box

    async def __call__(
        self,
        command: Sequence[str],
        *,
        folder: int,
        environment: Mapping[str, str],
        timeout: float | None = None,
        on_output: OnOutput = lambda data: None,
        keep_open: Sequence[int] = (),
        only_reads: bool = False,
    ) -> Finished:
        """Run a command as `process.run` does, in the box."""
        denied = await self._denied_places()
        hidden = (*self.hidden, *denied)
        with ExitStack() as held:
            covers = [] if only_reads else list(self._covers(held))
            rules = held.enter_context(_system_call_filter())
            nothing = held.enter_context(NamedTemporaryFile(prefix="turnout-")).name
            box = [
                *(self.program, *_apart(self.network and not only_reads, self.program)),
                *_system(environment, self.readable, self.network and not only_reads, self._room(only_reads)),
                *self._place(environment, only_reads, covers),
                *(() if only_reads else self._holding(denied, covers)),
                *self._without((*hidden, *_in_home(environment, HOME_SECRETS)), nothing),
                *("--remount-ro", "/"),
                *(("--seccomp", str(rules)) if rules >= 0 else ()),
                *("--chdir", self._inside(folder), "--"),
            ]
            return await process.run(
                [*box, *command],
                folder=folder,
                environment=_inner(environment),
                timeout=timeout,
                on_output=on_output,
                keep_open=(*keep_open, rules) if rules >= 0 else keep_open,
            )

    def _room(self, only_reads: bool) -> Sequence[str]:
        """How much its private folders hold, which lie in memory; one that writes has the system's limit."""
        can = only_reads and "--size " in _said(self.program, "--help")
        return ("--size", str(READING_ROOM)) if can else ()

    @property
    def reading(self) -> Confined:
        """The same for a command that only reads: nothing can be written, and nothing sent."""
        box = partial(self.__call__, only_reads=True)
        box.confines, box.network, box.note = True, False, ""  # type: ignore[attr-defined]
        return box  # type: ignore[return-value]

    def _inside(self, folder: int) -> str:
        place = self.workspace.located(folder)
        return os.path.join(self.workspace.root, place) if place else self.workspace.root

    async def _denied_places(self) -> list[str]:
        if self.denied is None:
            return []
        places, whole = await in_daemon(self.denied.places)
        if not whole or len(places) > COVERED_MOST:
            raise Refused("denied", "rules deny more here than can be found and covered")
        return places

    def _place(
        self, environment: Mapping[str, str], only_reads: bool, covers: Sequence[str]
    ) -> Iterator[str]:
        """The workspace, with what is covered in it."""
        root = self.workspace.root
        yield from ("--ro-bind" if only_reads else "--bind", root, root)
        for path in covers:
            empty = ("--tmpfs", path, "--remount-ro", path)
            yield from empty if is_empty(path) else ("--ro-bind", path, path)

    def _holding(self, denied: Sequence[str], covers: Sequence[str]) -> Iterator[str]:
        """Folders around what rules deny, each a mount of its own: the kernel renames no such folder."""
        for folder in self.denied.folders_to_hold(denied) if self.denied else ():
            if not any(_is_below(folder, cover) for cover in covers):
                yield from ("--bind", folder, folder)

    def _without(self, hidden: Sequence[str], nothing: str) -> Iterator[str]:
        """What has no content here: folders are empty, files are `nothing`, which programs can read."""
        seen = (self.workspace.root, *self.readable, *SYSTEM, "/etc")
        emptied: list[str] = []
        for path in sorted(set(hidden)):
            if not os.path.lexists(path) or any(_is_below(path, folder) for folder in emptied):
                continue
            if not any(_is_below(path, each) for each in seen):
                continue
            if os.path.isdir(path):
                emptied.append(path)
                yield from ("--tmpfs", path, "--remount-ro", path)
            else:
                yield from ("--ro-bind", nothing, path)

    def _covers(self, held: ExitStack) -> Iterator[str]:
        """What may not be written in the workspace; what is missing of it is held by an empty folder."""
        for name in COVERED:
            path = os.path.join(self.workspace.root, name)
            if os.path.islink(path):
                raise Refused("protected", f"{name} is a symlink, which cannot be kept from being replaced")
            if not os.path.lexists(path) or is_empty(path):
                held.enter_context(placeholder(path))
            yield path
        for name in COVERED_FILES:
            path = os.path.join(self.workspace.root, name)
            with suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path


def confined(
    workspace: Workspace,
    *,
    network: bool = False,
    readable: Sequence[str] = (),
    hidden: Sequence[str] = (),
    places: Sequence[str] = PLACES,
) -> Sandbox | Unconfined:
    """The way to run commands of a workspace: in a box, or openly where there can be none."""
    program = next((place for place in places if os.access(place, os.X_OK)), "")
    if not program:
        return Unconfined("bubblewrap is not installed")
    if any(_is_below(place, workspace.root) for place in ("/", *SYSTEM, "/etc", "/proc", "/dev")):
        return Unconfined("the workspace holds parts of the system itself")
    if problem := trouble(program):
        return Unconfined(f"bubblewrap does not work here: {problem}")
    return Sandbox(workspace, network=network, readable=readable, hidden=hidden, program=program)


@cache
def trouble(program: str) -> str:
    """Why a box cannot be made on this machine; "" when it can."""
    box = [program, *_apart(False, program), *_system({}, (), False), "--", "true"]
    try:
        tried = subprocess.run(
            box, env={"PATH": "/usr/bin:/bin"}, stdin=subprocess.DEVNULL, capture_output=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if tried.returncode == 0:
        return ""
    return tried.stderr.decode(errors="replace").strip()[:200] or f"exit code {tried.returncode}"


def version() -> str:
    """Which bubblewrap is found, as it calls itself; "" where there is none."""
    program = next((place for place in PLACES if os.access(place, os.X_OK)), "")
    return _said(program, "--version").strip() if program else ""


def _apart(network: bool, program: str) -> Iterator[str]:
    """Namespaces of its own for everything, and no rights to get out of them."""
    yield from ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
    yield from ("--unshare-user",)
    if "--disable-userns" in _said(program, "--help"):
        yield "--disable-userns"
    if network:
        yield "--share-net"


@cache
def _said(program: str, option: str) -> str:
    try:
        said = subprocess.run([program, option], stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (said.stdout + said.stderr).decode(errors="replace")


def _system(
    environment: Mapping[str, str], readable: Sequence[str], network: bool, room: Sequence[str] = ()
) -> Iterator[str]:
    """What is visible of the machine: programs and libraries, a few settings, empty private folders."""
    for path in SYSTEM:
        yield from ("--ro-bind-try", path, path)
    for name in (*ETC, *(NETWORK_ETC if network else ())):
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    # To the superuser /proc/sys can be written, in any namespace: core_pattern names a program for the host.
    yield from ("--proc", "/proc", "--remount-ro", "/proc")
    yield from ("--dev", "/dev", *room, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
    home = environment.get("HOME", "")
    own_home = home.startswith("/") and not _is_system(home)
    for path in ("/tmp", "/var/tmp", "/run", *([os.path.abspath(home)] if own_home else [])):
        yield from (*room, "--tmpfs", path)
    tools = (*_in_home(environment, HOME_TOOLS), *_program_folders(environment, home))
    for path in dict.fromkeys((*tools, *readable)):
        yield from ("--ro-bind-try", path, path)


def _in_home(environment: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    home = environment.get("HOME", "")
    return (os.path.join(os.path.abspath(home), name) for name in names if home.startswith("/"))


def _program_folders(environment: Mapping[str, str], home: str) -> Iterator[str]:
    """Folders of PATH that are not the system's, and the virtual environment."""
    for folder in (*environment.get("PATH", "").split(":"), environment.get("VIRTUAL_ENV", "")):
        path = os.path.abspath(folder) if folder.startswith("/") else ""
        if path and not _is_system(path) and not (home and _is_below(os.path.abspath(home), path)):
            yield path


def _is_system(path: str) -> bool:
    return any(_is_below(os.path.abspath(path), place) for place in (*SYSTEM, "/etc", "/proc", "/dev"))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _inner(environment: Mapping[str, str]) -> dict[str, str]:
    return {**environment, "TMPDIR": "/tmp"}


@contextmanager
def _system_call_filter() -> Iterator[int]:
    """A descriptor from which bubblewrap reads the filter; -1 where there is none for this machine."""
    rules = filter_for(platform.machine())
    if not rules:
        yield -1
        return
    descriptor = os.memfd_create("filter")
    try:
        os.write(descriptor, rules)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
