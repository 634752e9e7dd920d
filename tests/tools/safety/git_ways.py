"""Ways in which a folder can have git run a program of its choice, as data.

Each way writes what a hostile folder would bring and names the git calls that then run
`evil`. A test first shows with plain git that the way works, and then that ours does not.
"""

from __future__ import annotations

import atexit
import os
import pty
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from msgspec import Struct

SIGNATURES = {"openpgp": "PGP SIGNATURE", "ssh": "SSH SIGNATURE", "x509": "SIGNED MESSAGE"}
WHO = {
    name: value
    for role in ("AUTHOR", "COMMITTER")
    for name, value in ((f"GIT_{role}_NAME", "a"), (f"GIT_{role}_EMAIL", "a@b"))
}


EVIL = """#!/bin/sh
touch "$(dirname "$(readlink -f "$0")")/../pwned"
echo "E"VIL >&2
[ -f "$1" ] && cat "$1" || timeout 0.2 cat
"""


class Repository:
    """A folder with two commits and a changed file, and `evil`, which leaves a trace outside of it."""

    def __init__(self, base: Path, made: bool = False) -> None:
        self.base, self.root, self.canary = base, base / "root", base / "pwned"
        self.evil = self.root / "evil"
        if made:
            return
        shutil.copytree(_template() / "root", self.root, symlinks=True)
        self.write("a.txt", "two\n")
        os.utime(self.root / "b.txt", (1, 1))  # as it was, but git has to look again

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def config(self, **settings: str) -> None:
        """Settings by name, with `__` for the dot."""
        for name, value in settings.items():
            self.git("config", name.replace("__", "."), value)

    def commit(self, message: str) -> None:
        self.git("add", ".")
        self.git("commit", "-qm", message)

    def git(self, *words: str, at: str = ".", given: str = "") -> str:
        """Plain git while the stage is set, when nothing hostile is there yet."""
        done = subprocess.run(
            ["git", *words],
            cwd=self.root / at,
            env=environment(self.base),
            input=given.encode(),
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def fires(self, words: Sequence[str], given: str, at: str) -> bool:
        """Whether plain git, on a terminal, runs `evil` when it is called like this."""
        ours, theirs = pty.openpty()
        try:
            subprocess.run(
                ["git", *words],
                cwd=self.root / at,
                env=environment(self.base),
                input=given.encode(),
                stdout=theirs,
                stderr=theirs,
                timeout=20,
                start_new_session=True,
            )
        finally:
            os.close(ours)
            os.close(theirs)
        fired = self.canary.exists()
        self.canary.unlink(missing_ok=True)
        return fired


@cache
def _template() -> Path:
    """The repository that all of them begin as."""
    base = Path(mkdtemp(prefix="turnout-git-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    repo = Repository(base, made=True)
    repo.write("evil", EVIL)
    repo.evil.chmod(0o755)
    repo.git("init", "-q", "-b", "main")
    for text in ("zero\n", "one\n"):
        repo.write("a.txt", text)
        repo.write("b.txt", text)
        repo.commit(text.strip())
    return base


def environment(base: Path) -> dict[str, str]:
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(base), "GIT_CONFIG_NOSYSTEM": "1", "PAGER": "cat"}
    return {**plain, **WHO, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": "/dev/null"}


class Way(Struct, frozen=True):
    """One way: what the folder brings, and the git calls that run `evil` because of it."""

    name: str
    make: Callable[[Repository], None]
    calls: tuple[str, ...]
    given: str = ""
    at: str = "."


def _attributes(repo: Repository, what: str) -> None:
    repo.write(".gitattributes", f"*.txt {what}\n")


def _set(**settings: str) -> Callable[[Repository], None]:
    """Settings with the path of `evil` for `{}`."""

    def make(repo: Repository) -> None:
        repo.config(**{name: value.format(repo.evil) for name, value in settings.items()})

    return make


def _attributed(what: str, **settings: str) -> Callable[[Repository], None]:
    def make(repo: Repository) -> None:
        _attributes(repo, what)
        _set(**settings)(repo)

    return make


def _info_attributes(repo: Repository) -> None:
    repo.write(".git/info/attributes", "*.txt filter=x\n")
    repo.config(filter__x__clean=str(repo.evil))


def _hook(name: str, folder: str = ".git/hooks") -> Callable[[Repository], None]:
    def make(repo: Repository) -> None:
        (repo.root / folder).mkdir(exist_ok=True)
        (repo.root / folder / name).symlink_to(repo.evil)
        if folder != ".git/hooks":
            repo.config(core__hooksPath=str(repo.root / folder))

    return make


def _signed(kind: str, setting: str, **more: str) -> Callable[[Repository], None]:
    """A commit with a signature of that kind, which someone has to look at."""

    def make(repo: Repository) -> None:
        block = SIGNATURES[kind]
        tree = repo.git("rev-parse", "HEAD^{tree}")
        who = "a <a@b> 1700000000 +0000"
        text = f"tree {tree}\nauthor {who}\ncommitter {who}\ngpgsig -----BEGIN {block}-----\n \n"
        text += f" aGVsbG8=\n -----END {block}-----\n\nsigned\n"
        commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", given=text)
        repo.git("update-ref", "HEAD", commit)
        repo.config(**{setting: str(repo.evil), **more})

    return make


def _included(key: str) -> Callable[[Repository], None]:
    def make(repo: Repository) -> None:
        _attributes(repo, "filter=x")
        repo.write("extra", f'[filter "x"]\n\tclean = {repo.evil}\n')
        repo.git("config", key, "../extra")

    return make


def _second_settings(repo: Repository) -> None:
    _attributes(repo, "filter=x")
    repo.config(extensions__worktreeConfig="true")
    repo.write(".git/config.worktree", f'[filter "x"]\n\tclean = {repo.evil}\n')


def _common_folder(repo: Repository) -> None:
    """`.git` is nearly empty and says that the rest, settings too, is elsewhere."""
    repo.config(core__fsmonitor=str(repo.evil))
    (repo.root / ".git").rename(repo.root / "shared")
    for name in ("HEAD", "index"):
        repo.write(f".git/{name}", "")
        (repo.root / "shared" / name).rename(repo.root / ".git" / name)
    repo.write(".git/commondir", "../shared\n")


def _common_filter(repo: Repository) -> None:
    _attributed("filter=x", filter__x__clean="{}")(repo)
    _common_folder(repo)


def _elsewhere(repo: Repository) -> None:
    """`.git` is a file that names another folder."""
    _attributed("filter=x", filter__x__clean="{}")(repo)
    (repo.root / ".git").rename(repo.root / "hidden")
    repo.write(".git", "gitdir: hidden\n")


def _linked(repo: Repository) -> None:
    _attributed("filter=x", filter__x__clean="{}")(repo)
    (repo.root / ".git").rename(repo.root / "hidden")
    (repo.root / ".git").symlink_to("hidden")


def _bare(repo: Repository) -> None:
    """A folder of the workspace that is itself a repository, without a `.git`."""
    repo.git("init", "-q", "--bare", "docs")
    repo.git("--git-dir=docs", "--work-tree=.", "add", "a.txt")
    _attributes(repo, "filter=x")
    repo.write("a.txt", "three\n")
    settings = {"core.bare": "false", "core.worktree": "..", "filter.x.clean": str(repo.evil)}
    for name, value in settings.items():
        repo.git("config", "--file", "docs/config", name, value)


def _submodule(repo: Repository, modules: str = "", **inner: str) -> None:
    """A repository inside, at another commit than the one on record, with changed files of its own."""
    repo.git("init", "-q", "-b", "main", "sub")
    for text in ("zero\n", "one\n"):
        repo.write("sub/c.txt", text)
        repo.git("add", ".", at="sub")
        repo.git("commit", "-qm", text, at="sub")
    first = repo.git("rev-parse", "HEAD~1", at="sub")
    repo.write(".gitmodules", f'[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n{modules}')
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{first},sub")
    repo.git("add", ".gitmodules")
    repo.git("commit", "-qm", "submodule")
    repo.write("sub/c.txt", "two\n")
    repo.write("sub/.git/info/attributes", "*.txt filter=x\n")
    for name, value in inner.items():
        repo.git("config", name.replace("__", "."), value.format(repo.evil), at="sub")


def _inner(
    modules: str = "", outer: dict[str, str] | None = None, **inner: str
) -> Callable[[Repository], None]:
    def make(repo: Repository) -> None:
        _submodule(repo, modules, **inner)
        _set(**(outer or {}))(repo)

    return make


def _submodule_update(repo: Repository) -> None:
    _submodule(repo)
    repo.git("submodule", "init")
    repo.config(submodule__sub__update=f"!{repo.evil}")


def _missing_object(repo: Repository) -> None:
    """A partial clone: what is missing is fetched, by a program of the folder's choice."""
    blob = repo.git("rev-parse", "HEAD:a.txt")
    (repo.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (repo.base / "origin").mkdir()
    repo.git("init", "-q", "--bare", ".", at="../origin")
    repo.config(core__repositoryFormatVersion="1", extensions__partialClone="origin")
    repo.config(remote__origin__promisor="true", remote__origin__url=str(repo.base / "origin"))
    repo.config(remote__origin__uploadpack=str(repo.evil))


def _merge_driver(repo: Repository) -> None:
    _attributes(repo, "merge=x")
    repo.commit("ours")
    repo.git("checkout", "-q", "-b", "other", "HEAD~1")
    repo.write("a.txt", "other\n")
    repo.commit("theirs")
    repo.git("checkout", "-q", "main")
    _attributes(repo, "merge=x")
    repo.config(merge__x__driver=str(repo.evil))


FILL = "protocol=https\nhost=example.com\nusername=a\n\n"
LOOKING = ("status", "diff", "diff --stat")
WAYS = (
    Way("filter clean", _attributed("filter=x", filter__x__clean="{}"), LOOKING),
    Way("filter process", _attributed("filter=x", filter__x__process="{}"), LOOKING),
    Way(
        "filter smudge",
        _attributed("filter=x", filter__x__smudge="{}"),
        ("cat-file --filters HEAD:a.txt", "checkout -- a.txt"),
    ),
    Way("filter of info/attributes", _info_attributes, LOOKING),
    Way(
        "textconv",
        _attributed("diff=x", diff__x__textconv="{}"),
        ("diff", "log -p -1", "show HEAD", "blame a.txt", "grep --textconv one"),
    ),
    Way("diff driver", _attributed("diff=x", diff__x__command="{}"), ("diff", "log -p -1 --ext-diff")),
    Way("external diff", _set(diff__external="{}"), ("diff", "show HEAD --ext-diff")),
    Way("watcher", _set(core__fsmonitor="{}"), ("status", "diff", "ls-files -m")),
    Way("hooks elsewhere", _hook("post-index-change", "hooks"), ("status",)),
    Way("hook", _hook("post-index-change"), ("status",)),
    Way("hook of a commit", _hook("pre-commit"), ("commit -qam x",)),
    Way("hook of a checkout", _hook("post-checkout"), ("checkout -q HEAD~1 -- b.txt", "checkout -qf HEAD~1")),
    Way("pager", _set(core__pager="{}"), ("log", "diff", "branch -a")),
    Way("pager of a command", _set(pager__log="{}"), ("log",)),
    Way("editor", _set(core__editor="{}"), ("commit --allow-empty",)),
    Way("editor of a rebase", _set(sequence__editor="{}"), ("rebase -i --autostash HEAD~1",)),
    Way("credential helper", _set(credential__helper="{}"), ("credential fill",), FILL),
    Way(
        "credential helper of a site",
        lambda repo: repo.git("config", "credential.https://example.com.helper", str(repo.evil)) and None,
        ("credential fill",),
        FILL,
    ),
    Way("asking for a password", _set(core__askPass="{}"), ("credential fill",), FILL),
    Way(
        "signature checker",
        _signed("openpgp", "gpg__program", log__showSignature="true"),
        ("log -1", "show --no-patch", "log -1 --format=%G?"),
    ),
    Way("signature checker of a kind", _signed("openpgp", "gpg__openpgp__program"), ("log -1 --format=%G?",)),
    Way(
        "signature checker for SSH",
        _signed("ssh", "gpg__ssh__program", gpg__ssh__allowedSignersFile="/dev/null"),
        ("log -1 --format=%G?",),
    ),
    Way("signature checker for X.509", _signed("x509", "gpg__x509__program"), ("log -1 --format=%G?",)),
    Way(
        "ssh",
        _set(core__sshCommand="{}", remote__origin__url="ssh://127.0.0.1/x"),
        ("fetch", "ls-remote", "remote show origin"),
    ),
    Way("alias", _set(alias__st="!{}"), ("st",)),
    Way("submodule update", _submodule_update, ("submodule update",)),
    Way("included settings", _included("include.path"), LOOKING),
    Way("settings included on a condition", _included("includeIf.onbranch:main.path"), LOOKING),
    Way("second file of settings", _second_settings, LOOKING),
    Way("protocol", _set(protocol__ext__allow="always", remote__origin__url="ext::{} x"), ("fetch",)),
    Way("upload program", _set(remote__origin__url=".", remote__origin__uploadpack="{}"), ("fetch",)),
    Way(
        "receive program",
        _set(remote__origin__url=".", remote__origin__receivepack="{}"),
        ("push origin HEAD:refs/heads/x",),
    ),
    Way("proxy", _set(core__gitProxy="{}", remote__origin__url="git://127.0.0.1/x"), ("fetch",)),
    Way("common folder with a watcher", _common_folder, ("status",)),
    Way("common folder with a filter", _common_filter, LOOKING),
    Way("settings elsewhere", _elsewhere, LOOKING),
    Way("settings behind a link", _linked, LOOKING),
    Way("bare repository", _bare, ("diff", "diff --stat"), at="docs"),
    Way("watcher of a submodule", _inner(core__fsmonitor="{}"), ("status", "diff")),
    Way("filter of a submodule", _inner(filter__x__clean="{}"), ("status", "diff")),
    Way(
        "filter of a submodule to be looked into",
        _inner("\tignore = none\n", filter__x__clean="{}"),
        ("status", "diff"),
    ),
    Way(
        "external diff of a submodule",
        _inner(outer={"diff__submodule": "diff"}, diff__external="{}"),
        ("diff", "diff HEAD"),
    ),
    Way(
        "filter of a submodule, by its summary",
        _inner(outer={"status__submoduleSummary": "true"}, filter__x__clean="{}"),
        ("status",),
    ),
    Way(
        "missing object", _missing_object, ("show HEAD:a.txt", "diff", "log -p -1", "cat-file -p HEAD:a.txt")
    ),
    Way("merge driver", _merge_driver, ("merge other",)),
    Way("archive", _set(tar__x__command="{}"), ("archive --format=x HEAD",)),
    Way("difftool", _set(difftool__x__cmd="{}"), ("difftool --no-prompt --tool=x",)),
    Way("trailer", _set(trailer__x__key="x", trailer__x__command="{}"), ("interpret-trailers",), "a\n\nb\n"),
)
