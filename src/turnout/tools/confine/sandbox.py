"""The sandbox for commands: bubblewrap gives them a system with little in it.

Inside, the system is read-only, /tmp and the home folder are empty and private, other processes are
not visible, and there is no network unless the user allows it. Only the workspace can be written,
except for files that other programs execute or obey: `.git` with its hooks and settings, and our own
project settings. These are covered also where they are missing, so that a command cannot create
them. Only paths on a list are visible.

A command that only reads sees the workspace read-only (`read_only`), so that a wrong judgement about
it does no harm. Where bubblewrap does not work, `Unconfined` takes its place: it runs commands
without a sandbox and says so, and policy then asks about each.

Limits: a command can talk to a socket that was opened inside the workspace from outside, and a
linked git worktree cannot see its repository.
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
from .beneath import PathRefused
from .denied_files import DeniedFiles
from .placeholder import is_empty, placeholder
from .process import Finished, OnOutput, Spawn
from .syscalls import filter_for
from .threads import in_daemon
from .workspace import WorkspaceFiles

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
"""Where users keep their own compilers and interpreters: visible, but read-only."""
COVERED = (".git", ".turnout")
"""Folders of the workspace that other programs obey: read-only, also when they are missing."""
COVERED_FILES = (".mcp.json",)
"""Files of that kind: read-only when they are there."""

COVERED_MOST = 2_000  # denied files that can be covered; bubblewrap limits the number of its arguments
READING_ROOM = 256 * 1024 * 1024  # bytes in each private folder of a command that only reads

OPEN = "there is no sandbox, so it can reach everything that you can"


class Confined(Spawn, Protocol):
    """A way to run commands, with facts about what they can reach."""

    confines: bool
    network: bool
    note: str


class Unconfined:
    """Runs commands without a sandbox. `note` says why there is none."""

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
        return await process.run_command(
            command,
            folder=folder,
            environment=environment,
            timeout=timeout,
            on_output=on_output,
            keep_open=keep_open,
        )


class Sandbox:
    """Runs commands of one workspace in a sandbox.

    `readable` are further folders that are visible; `hidden` are paths that are never visible.
    Use `sandbox_for(...)` to get one: it checks first whether the machine supports it.
    """

    confines = True
    note = ""

    def __init__(
        self,
        workspace: WorkspaceFiles,
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
        self.denied: DeniedFiles | None = None

    def with_covered(self, denied: DeniedFiles) -> Sandbox:
        """The same sandbox, in which denied files have no content."""
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
        """Run a command as `run_command` does, in the sandbox."""
        denied = await self._denied_places()
        hidden = (*self.hidden, *denied)
        with ExitStack() as held:
            covers = [] if only_reads else list(self._covered_paths(held))
            rules = held.enter_context(_system_call_filter())
            nothing = held.enter_context(NamedTemporaryFile(prefix="turnout-")).name
            box = [
                *(self.program, *_namespace_options(self.network and not only_reads, self.program)),
                *_system_options(
                    environment,
                    self.readable,
                    self.network and not only_reads,
                    self._size_options(only_reads),
                ),
                *self._workspace_options(environment, only_reads, covers),
                *(() if only_reads else self._holding_options(denied, covers)),
                *self._hiding_options((*hidden, *_in_home(environment, HOME_SECRETS)), nothing),
                *("--remount-ro", "/"),
                *(("--seccomp", str(rules)) if rules >= 0 else ()),
                *("--chdir", self._folder_inside(folder), "--"),
            ]
            return await process.run_command(
                [*box, *command],
                folder=folder,
                environment=_inner_environment(environment),
                timeout=timeout,
                on_output=on_output,
                keep_open=(*keep_open, rules) if rules >= 0 else keep_open,
            )

    def _size_options(self, only_reads: bool) -> Sequence[str]:
        """The size of its private folders, which are in memory; a writing command has the system's limit."""
        can = only_reads and "--size " in _output_of(self.program, "--help")
        return ("--size", str(READING_ROOM)) if can else ()

    @property
    def read_only(self) -> Confined:
        """The same for a command that only reads: nothing can be written, and nothing sent."""
        box = partial(self.__call__, only_reads=True)
        box.confines, box.network, box.note = True, False, ""  # type: ignore[attr-defined]
        return box  # type: ignore[return-value]

    def _folder_inside(self, folder: int) -> str:
        place = self.workspace.place_of(folder)
        return os.path.join(self.workspace.root, place) if place else self.workspace.root

    async def _denied_places(self) -> list[str]:
        if self.denied is None:
            return []
        places, whole = await in_daemon(self.denied.places)
        if not whole or len(places) > COVERED_MOST:
            raise PathRefused("denied", "rules deny more files than the sandbox can cover; use fewer rules")
        return places

    def _workspace_options(
        self, environment: Mapping[str, str], only_reads: bool, covers: Sequence[str]
    ) -> Iterator[str]:
        """Shows the workspace, with its covered paths."""
        root = self.workspace.root
        yield from ("--ro-bind" if only_reads else "--bind", root, root)
        for path in covers:
            empty = ("--tmpfs", path, "--remount-ro", path)
            yield from empty if is_empty(path) else ("--ro-bind", path, path)

    def _holding_options(self, denied: Sequence[str], covers: Sequence[str]) -> Iterator[str]:
        """Each folder around a denied file as a separate mount, because the kernel does not rename mounts."""
        for folder in self.denied.folders_to_hold(denied) if self.denied else ():
            if not any(_is_below(folder, cover) for cover in covers):
                yield from ("--bind", folder, folder)

    def _hiding_options(self, hidden: Sequence[str], nothing: str) -> Iterator[str]:
        """Hides content: folders are empty, files are `nothing`, an empty file that programs can read."""
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

    def _covered_paths(self, held: ExitStack) -> Iterator[str]:
        """Paths of the workspace that may not be written; a placeholder stands for a missing folder."""
        for name in COVERED:
            path = os.path.join(self.workspace.root, name)
            if os.path.islink(path):
                raise PathRefused(
                    "protected", f"{name} is a symlink, which the sandbox cannot protect; make it a folder"
                )
            if not os.path.lexists(path) or is_empty(path):
                held.enter_context(placeholder(path))
            yield path
        for name in COVERED_FILES:
            path = os.path.join(self.workspace.root, name)
            with suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path


def sandbox_for(
    workspace: WorkspaceFiles,
    *,
    network: bool = False,
    readable: Sequence[str] = (),
    hidden: Sequence[str] = (),
    places: Sequence[str] = PLACES,
) -> Sandbox | Unconfined:
    """The way to run commands of a workspace: in a sandbox, or `Unconfined` where there can be none."""
    program = next((place for place in places if os.access(place, os.X_OK)), "")
    if not program:
        return Unconfined("bubblewrap is not installed")
    if any(_is_below(place, workspace.root) for place in ("/", *SYSTEM, "/etc", "/proc", "/dev")):
        return Unconfined("the workspace holds folders of the system, such as /usr")
    if problem := why_no_sandbox(program):
        return Unconfined(f"bubblewrap does not work here: {problem}")
    return Sandbox(workspace, network=network, readable=readable, hidden=hidden, program=program)


@cache
def why_no_sandbox(program: str) -> str:
    """Why a sandbox cannot be made on this machine; "" when it can."""
    box = [program, *_namespace_options(False, program), *_system_options({}, (), False), "--", "true"]
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
    """The version that bubblewrap reports; "" where there is none."""
    program = next((place for place in PLACES if os.access(place, os.X_OK)), "")
    return _output_of(program, "--version").strip() if program else ""


def _namespace_options(network: bool, program: str) -> Iterator[str]:
    """New namespaces for everything, and no rights to leave them."""
    yield from ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
    yield from ("--unshare-user",)
    if "--disable-userns" in _output_of(program, "--help"):
        yield "--disable-userns"
    if network:
        yield "--share-net"


@cache
def _output_of(program: str, option: str) -> str:
    try:
        done = subprocess.run([program, option], stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).decode(errors="replace")


def _system_options(
    environment: Mapping[str, str], readable: Sequence[str], network: bool, room: Sequence[str] = ()
) -> Iterator[str]:
    """What is visible of the machine: programs and libraries, a few settings, empty private folders."""
    for path in SYSTEM:
        yield from ("--ro-bind-try", path, path)
    for name in (*ETC, *(NETWORK_ETC if network else ())):
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    # Root can write /proc/sys in any namespace, and core_pattern names a program that the host runs.
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


def _inner_environment(environment: Mapping[str, str]) -> dict[str, str]:
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
