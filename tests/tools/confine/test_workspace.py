"""The workspace: whatever a path says, what is opened lies beneath the root."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.tools.confine.beneath import PathRefused, by_kernel, step_by_step
from turnout.tools.confine.file_names import escape_name, unescape_name
from turnout.tools.confine.workspace import WorkspaceFiles

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
SECRET = b"outside: nobody may read this"


@pytest.fixture(params=[by_kernel, step_by_step], ids=lambda opener: opener.__name__)
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WorkspaceFiles]:
    """A folder `root` with a file, beside a secret that it must not reach, opened both ways."""
    (tmp_path / "root/src").mkdir(parents=True)
    (tmp_path / "root/src/a.py").write_bytes(b"inside")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil/secret").write_bytes(SECRET)
    (tmp_path / "secret").write_bytes(SECRET)
    with WorkspaceFiles(tmp_path / "root", opener=request.param) as made:
        yield made


def read(workspace: WorkspaceFiles, path: str) -> bytes:
    return workspace.read(path, 1_000_000)[0]


def test_the_kernel_confines_paths_where_it_can(tmp_path: Path) -> None:
    """This machine has openat2, so a plain WorkspaceFiles uses it."""
    with WorkspaceFiles(tmp_path) as workspace:
        assert workspace.confinement == "by_kernel"


@pytest.mark.parametrize("path", ["src/a.py", "./src/a.py", "src//a.py", "src/../src/a.py", "src/./a.py"])
def test_every_spelling_of_an_inside_path_opens_it(workspace: WorkspaceFiles, path: str) -> None:
    """Dots, double slashes and detours inside the root are no reason to refuse."""
    assert read(workspace, path) == b"inside"


def test_an_absolute_path_below_the_root_is_inside(workspace: WorkspaceFiles) -> None:
    """Models often write the full path; it names the same file."""
    assert read(workspace, f"{workspace.root}/src/a.py") == b"inside"
    assert read(workspace, f"/{workspace.root}/src/../src/a.py") == b"inside"


def test_a_root_reached_through_a_link_answers_to_both_names(tmp_path: Path) -> None:
    """The folder's own name and the link's name are both spellings of the root."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a").write_bytes(b"x")
    (tmp_path / "alias").symlink_to("real")
    with WorkspaceFiles(tmp_path / "alias") as workspace:
        assert read(workspace, str(tmp_path / "real/a")) == read(workspace, str(tmp_path / "alias/a")) == b"x"


def escapes(tmp_path: Path) -> Iterator[str]:
    """More than two hundred spellings that lead to the secret, or would under a weaker rule."""
    root = tmp_path / "root"
    (root / "up").symlink_to("..")
    (root / "absolute").symlink_to(tmp_path / "secret")
    (root / "slash").symlink_to("/")
    (root / "chain").symlink_to("chain2")
    (root / "chain2").symlink_to("up/secret")
    (root / "src/deep").symlink_to("../../secret")
    (root / "proc").symlink_to("/proc/self/root")
    (root / "process").symlink_to("/proc/self/cwd")
    (root / "sibling").symlink_to("../root-evil")
    up = ["../secret", "src/../../secret", "./../secret", "src/..//../secret", "src/./.././../secret"]
    links = ["up/secret", "chain", "chain2", "src/deep", "absolute", "sibling/secret", "up/root-evil/secret"]
    full = [f"{tmp_path}/secret", f"{root}/../secret", f"{root}-evil/secret", f"{root}/src/../../secret"]
    slash = [f"slash{tmp_path}/secret", f"proc{tmp_path}/secret", f"slash/../{tmp_path}/secret"]
    system = [
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/dev/zero",
        "/",
        "//",
        "/..",
    ]
    for path in (*up, *links, *full, *slash, *system):
        yield from (path, f"./{path}" if path[0] != "/" else f"/{path}", path.replace("/", "//"))
        yield from (path.replace("/", "/./"), path + "/.", path.replace("../", ".././"))
    for depth in range(1, 41):
        yield "../" * depth + f"{tmp_path.name}/secret"
        yield "src/" + "../" * (depth + 1) + "secret"


def test_no_spelling_leads_out(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """Dots, links, chains of links, magic links and look-alike folders: none opens a file outside."""
    spellings = list(dict.fromkeys(escapes(tmp_path)))
    assert len(spellings) >= 200
    for path in spellings:
        with pytest.raises(OSError) as refused:
            read(workspace, path)
        assert SECRET not in str(refused.value).encode(), path
        with pytest.raises(OSError):
            workspace.write(path, b"changed")
        with pytest.raises(OSError):
            os.close(workspace.directory(path))
    assert (tmp_path / "secret").read_bytes() == SECRET
    assert sorted(os.listdir(tmp_path)) == ["root", "root-evil", "secret"]


def test_links_that_stay_inside_are_followed(workspace: WorkspaceFiles) -> None:
    """A relative link to a file or folder of the workspace works as the user expects."""
    os.symlink("src", f"{workspace.root}/code")
    os.symlink("../src/a.py", f"{workspace.root}/src/same")
    assert read(workspace, "code/a.py") == read(workspace, "code/same") == b"inside"


def test_circular_links_end(workspace: WorkspaceFiles) -> None:
    """A link to itself is an error, not a hang."""
    os.symlink("loop", f"{workspace.root}/loop")
    with pytest.raises(OSError):
        read(workspace, "loop")
    with pytest.raises(OSError):
        workspace.write("loop", b"")


SWAP = """
import os, sys
target, aims = sys.argv[1], sys.argv[2:]
new, aside = f"{target}.new", f"{target}.aside"
if len(aims) == 1:  # a real thing and a link change places
    os.symlink(aims[0], new)
while len(aims) == 1:
    os.rename(target, aside)
    os.rename(new, target)
    os.rename(aside, new)
while True:
    for aim in aims:
        os.symlink(aim, new)
        os.rename(new, target)
"""


@contextmanager
def swapping(target: str, *aims: str) -> Iterator[None]:
    """Another process makes `target` a link to the one, then to the other, as fast as it can.

    With one aim, what is there changes places with a link to it.
    """
    swapper = subprocess.Popen([sys.executable, "-I", "-S", "-c", SWAP, target, *aims])
    try:
        while not os.path.islink(target):
            assert swapper.poll() is None
        yield
    finally:
        swapper.kill()
        swapper.wait()


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["folder", "file", "parents", "real folder", "real file"])
def test_a_link_swapped_during_the_open_never_leads_out(
    workspace: WorkspaceFiles, tmp_path: Path, kind: str
) -> None:
    """The race that a check followed by an open loses: here there is no check."""
    (tmp_path / "root/secret").write_bytes(b"inside")
    aims, path = {
        "folder": ((".", ".."), "swapped/secret"),
        "file": (("src/a.py", "../secret"), "swapped"),
        "parents": (("src/..", "src/../.."), "swapped/src/../secret"),
        "real folder": (("..",), "swapped/secret"),
        "real file": (("../secret",), "swapped"),
    }[kind]
    if kind == "real folder":
        (tmp_path / "root/swapped").mkdir()
        (tmp_path / "root/swapped/secret").write_bytes(b"inside")
    elif kind == "real file":
        (tmp_path / "root/swapped").write_bytes(b"inside")
    tries = {"inside": 0, "refused": 0}
    deadline = time.monotonic() + 60
    with swapping(f"{workspace.root}/swapped", *aims):
        while sum(tries.values()) < (10_000 if SOAK else 1_000) or not all(tries.values()):
            try:
                assert read(workspace, path) == b"inside"
                tries["inside"] += 1
            except OSError:
                tries["refused"] += 1
            assert time.monotonic() < deadline, f"the link did not change: {tries}"


def checked_then_opened(root: int, path: str, flags: int, mode: int = 0) -> int:
    """What must not be done: judge the path, then open it."""
    base = os.readlink(f"/proc/self/fd/{root}")
    full = os.path.realpath(os.path.join(base, path))
    if full != base and not full.startswith(base + "/"):
        raise PathRefused("outside", path)
    return os.open(os.path.join(base, path), flags, mode)


def test_the_race_is_real(tmp_path: Path) -> None:
    """A check before the open loses this race, so the tests of it can fail."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root/secret").write_bytes(b"inside")
    (tmp_path / "secret").write_bytes(SECRET)
    with (
        WorkspaceFiles(tmp_path / "root", opener=checked_then_opened) as naive,
        swapping(f"{naive.root}/swapped", ".", ".."),
    ):
        for _ in range(20_000):
            with suppress(OSError):
                if read(naive, "swapped/secret") == SECRET:
                    return
    pytest.fail("no escape in 20,000 tries")


@pytest.mark.soak
def test_a_write_through_a_swapped_link_never_lands_outside(
    workspace: WorkspaceFiles, tmp_path: Path
) -> None:
    """Whatever the link says at each moment, the bytes end inside."""
    with swapping(f"{workspace.root}/swapped", "src", ".."):
        for number in range(2_000 if SOAK else 200):
            with suppress(OSError):
                workspace.write("swapped/secret", b"inside %d" % number)
    assert (tmp_path / "secret").read_bytes() == SECRET
    assert sorted(os.listdir(tmp_path)) == ["root", "root-evil", "secret"]


def test_a_write_keeps_the_mode(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """An executable stays executable, a private file private."""
    script = tmp_path / "root/run"
    for mode in (0o755, 0o600, 0o640, 0o444):
        script.write_bytes(b"old")
        script.chmod(mode)
        workspace.write("run", b"new")
        assert (script.read_bytes(), stat.S_IMODE(script.stat().st_mode)) == (b"new", mode)
        script.unlink()


def test_a_new_file_follows_the_umask(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """As any program would have made it."""
    before = os.umask(0o027)
    try:
        assert workspace.write("fresh/deep/er/file", b"") is True
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "root/fresh/deep/er/file").stat().st_mode) == 0o640


def test_a_reader_sees_the_old_bytes_or_the_new_ones(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """A write is a rename: there is no moment with half a file."""
    versions = [bytes([letter]) * 200_000 for letter in b"ab"]
    workspace.write("big", versions[0])
    stop = threading.Event()

    def rewrite() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            workspace.write("big", versions[turn % 2])

    writer = threading.Thread(target=rewrite, daemon=True)
    writer.start()
    try:
        for _ in range(200):
            assert (tmp_path / "root/big").read_bytes() in versions
    finally:
        stop.set()
        writer.join()


def test_a_write_through_an_inside_link_changes_its_target(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """The link stays a link."""
    os.symlink("src/a.py", f"{workspace.root}/link")
    assert workspace.write("link", b"new") is False
    assert (tmp_path / "root/src/a.py").read_bytes() == b"new"
    assert os.path.islink(f"{workspace.root}/link")


def test_a_hard_link_to_the_outside_is_broken_not_written(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """The other name of the file keeps its bytes."""
    os.link(tmp_path / "secret", f"{workspace.root}/hard")
    workspace.write("hard", b"new")
    assert (tmp_path / "secret").read_bytes() == SECRET


def test_a_file_changed_since_it_was_read_is_left_alone(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """An edit is made of what was read; on anything else it would destroy someone's work."""
    _, stamp = workspace.read("src/a.py", 100)
    (tmp_path / "root/src/a.py").write_bytes(b"their work")
    with pytest.raises(PathRefused) as refused:
        workspace.write("src/a.py", b"ours", expected=stamp)
    assert refused.value.rule == "changed"
    assert (tmp_path / "root/src/a.py").read_bytes() == b"their work"


def test_a_failed_write_leaves_nothing_behind(
    workspace: WorkspaceFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk is full the old file stands and the temporary one is gone."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError):
        workspace.write("src/a.py", b"new")
    assert os.listdir(tmp_path / "root/src") == ["a.py"]
    assert (tmp_path / "root/src/a.py").read_bytes() == b"inside"


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/config",
        "sub/.git/config",
        "alias/config",
        "new/.git/x",
        ".git",
    ],
)
def test_git_folders_are_read_not_written(workspace: WorkspaceFiles, tmp_path: Path, path: str) -> None:
    """Hooks and settings run outside of any tool; also under another case or through a link."""
    for folder in (".git/hooks", "sub/.git"):
        (tmp_path / "root" / folder).mkdir(parents=True)
    (tmp_path / "root/.git/config").write_bytes(b"[core]")
    os.symlink(".git", f"{workspace.root}/alias")
    with pytest.raises(OSError):
        workspace.write(path, b"[core]\nfsmonitor = evil")
    assert read(workspace, ".git/config") == b"[core]"
    assert workspace.write(".gitignore", b"") is True


def test_only_regular_files_are_read(workspace: WorkspaceFiles) -> None:
    """A pipe, a socket or a device in the folder neither hangs nor streams for ever."""
    os.mkfifo(f"{workspace.root}/pipe")
    with socket.socket(socket.AF_UNIX) as server:
        home = os.getcwd()
        os.chdir(workspace.root)
        try:
            server.bind("socket")
        finally:
            os.chdir(home)
        for path in ("pipe", "socket"):
            with pytest.raises(PathRefused) as refused:
                read(workspace, path)
            assert refused.value.rule == "not_a_file"
            assert workspace.kind(path) == "other"
    with pytest.raises(IsADirectoryError):
        read(workspace, "src")
    with pytest.raises(IsADirectoryError):
        workspace.write("src", b"")
    with pytest.raises(NotADirectoryError):
        workspace.write("src/a.py/b", b"")


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "a\\u0000/../../secret", "x" * 5000, "y/" * 2100 + "z"])
def test_impossible_paths_are_refused_as_os_errors(workspace: WorkspaceFiles, path: str) -> None:
    """NUL, half characters and endless names are the model's mistake, never our crash."""
    with pytest.raises(OSError):
        read(workspace, path)


ODD_NAMES = [
    "späce name",
    "日本語",
    "-rf",
    "line\nbreak",
    "tab\there",
    "‮gpj.exe",
    "\udce9t\udce9",
    "'\"",
    "~",
    "*",
    "\\x",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_can_be_listed_and_sent_back(workspace: WorkspaceFiles, tmp_path: Path, name: str) -> None:
    """What a listing shows of any name opens that file again, and writing reaches the same one."""
    (tmp_path / "root" / name).write_bytes(b"odd")
    as_text = escape_name(next(entry.name for entry in workspace.entries() if entry.kind == "file"))
    as_text.encode()
    assert read(workspace, as_text) == b"odd"
    assert workspace.write(as_text, b"new") is False


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_shown_name_has_no_controls_and_comes_back(name: str) -> None:
    """`unshown` undoes `shown`, but for names that hold a backslash of their own."""
    text = escape_name(name)
    assert text.isprintable() or " " in text or not any(ord(character) < 32 for character in text)
    assert "\\" in name or unescape_name(text) == name


def test_one_identity_for_every_spelling(workspace: WorkspaceFiles) -> None:
    """Two calls that name one file differently are seen to touch the same file."""
    os.symlink("src", f"{workspace.root}/code")
    spellings = ["src/a.py", "./src/a.py", "code/a.py", "src/../code/a.py", f"{workspace.root}/src/a.py"]
    assert {workspace.identity(path) for path in spellings} == {"src/a.py"}
    assert {workspace.identity(path) for path in ("src/new/b", "code/new/b", "code/../src/new/b")} == {
        "src/new/b"
    }


def test_a_place_outside_is_named_as_such(workspace: WorkspaceFiles, tmp_path: Path) -> None:
    """A link or `..` behind a link that leads out is told by its name, so that policy can ask."""
    os.symlink("../secret", f"{workspace.root}/out")
    os.symlink("/nowhere", f"{workspace.root}/gone")
    os.symlink("src", f"{workspace.root}/code")
    (tmp_path / "root/src/deep").mkdir()
    os.symlink("../../src", f"{workspace.root}/src/deep/up")
    assert workspace.identity("out") == str(tmp_path / "secret")
    assert workspace.identity("gone/x/y") == "/nowhere/x/y"
    for path in ("out", "gone", "gone/x", "../x", "/etc", "..", "src/deep/up/../../../x"):
        assert not workspace.shows(workspace.identity(path)), path
    for path in (".", "src/a.py", "new/x", "code/../new", f"{workspace.root}/src"):
        assert workspace.shows(workspace.identity(path)), path


def test_a_readable_folder_is_read_and_never_written(tmp_path: Path) -> None:
    """Saved output lies outside the root; its files may be read by their full path."""
    (tmp_path / "root").mkdir()
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved/1.txt").write_bytes(b"saved")
    with WorkspaceFiles(tmp_path / "root", readable=[tmp_path / "saved"]) as workspace:
        assert read(workspace, str(tmp_path / "saved/1.txt")) == b"saved"
        with pytest.raises(PathRefused):
            workspace.write(str(tmp_path / "saved/1.txt"), b"")
        with pytest.raises(PathRefused):
            read(workspace, str(tmp_path / "saved/../root-evil/secret"))


def test_walking_never_enters_a_link(workspace: WorkspaceFiles) -> None:
    """A link to a folder is named with its target and left at that, so a walk ends."""
    os.symlink("..", f"{workspace.root}/src/up")
    found = dict(workspace.walk())
    assert list(found) == ["src", "src/a.py", "src/up"]
    assert (found["src/up"].kind, found["src/up"].target) == ("link", "..")


def test_no_descriptor_is_left_open(workspace: WorkspaceFiles) -> None:
    """Reading, writing, listing and being refused all close what they opened."""
    before = len(os.listdir("/proc/self/fd"))
    for path in ("src/a.py", "src", "missing/x", "../secret", "a\0"):
        for act in (lambda p: read(workspace, p), workspace.entries, lambda p: workspace.write(p, b"x")):
            with suppress(OSError):
                act(path)
        workspace.identity(path)
    assert len(os.listdir("/proc/self/fd")) == before
