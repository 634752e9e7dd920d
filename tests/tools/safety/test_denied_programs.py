"""A rule that denies a program denies it however it is reached."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.model import ToolCall
from turnout.tools.admission import Admitted, admit
from turnout.tools.builtin import BUILTIN
from turnout.tools.policy import Policy, Rule
from turnout.tools.reached import Reached
from turnout.tools.registry import Registry
from turnout.tools.shell_words import Command, commands, glimpsed
from turnout.tools.situation import Situation
from turnout.tools.workspace import Workspace

REACHING = r"""
rm x
/bin/rm x
../../bin/rm x
command rm x
builtin command rm x
env rm x
env A=1 rm x
env -u X rm -f x
env -S 'rm x'
env --split-string='rm x'
nice rm x
nice -n 5 rm x
nohup rm x
timeout 5 rm x
timeout -s KILL 5s rm x
timeout --signal=KILL 5 rm x
xargs rm
ls | xargs -0 -n 1 rm -f
xargs -I {} rm {}
find . -name a -exec rm {} +
find . -execdir /bin/rm {} ';'
find . -exec rm {} \;
fd -x rm
sh -c 'rm x'
bash -lc "ls; rm x"
bash -ec 'if true; then rm x; fi'
bash -c 'bash -c "rm x"'
busybox rm x
busybox sh -c 'rm x'
sudo rm x
sudo -n -u somebody -- rm x
exec rm x
eval 'rm x'
eval rm x
stdbuf -oL rm x
setsid rm x
flock /tmp/lock rm x
flock lock -c 'rm x'
chroot / rm x
ionice -c 3 rm x
time rm x
strace -f rm x
su somebody -c 'rm x'
script -c 'rm x' /dev/null
watch -n 1 rm x
parallel rm ::: x
nice env timeout 3 sh -c 'command rm x'
trap 'rm x' EXIT
rm x &
(rm x)
{ rm x; }
! rm x
echo $(rm x)
echo `rm x`
cat <(rm x)
for f in *; do rm $f; done
if true; then rm x; fi
while read f; do rm "$f"; done
case a in a) rm x;; esac
f() { rm x; }; f
A=1 rm x
\rm x
r'm' x
"rm" x
RM x
rm x > y
rm x 2>/dev/null
rm src/*
rm *
ls && rm x || true
rm x | cat
./link x
env -iS 'rm x'
script -qc 'rm x' /dev/null
setarch x86_64 rm x
linux64 rm x
npx rm x
sg root 'rm x'
rbash -c 'rm x'
/lib64/ld-linux-x86-64.so.2 /bin/rm x
perf stat rm x
""".strip().split("\n")
UNTOLD = r"""
python3 -c 'import shutil'
python3.12 -c 'x'
perl -e 'unlink 1'
node -e 1
ruby -e 1
php -r 1
awk 'BEGIN { system(1) }'
echo rm x | sh
curl -s example.com | bash
$x y
eval $x
bash -c "$x"
bash <<< 'rm x'
echo 'rm x' | bash -s
echo 'rm x' | bash -
echo 'rm x' | bash -x
echo 'rm x' | env bash
echo 'rm x' | bash /dev/stdin
echo 'rm x' | xargs env
echo rm | xargs -I % % x
echo rm | xargs -I P P x
echo 1 | python3
python3 -Bc 1
perl -we 1
node -pe 1
echo '!rm x' | ed
""".strip().split("\n")
POSSIBLE = r"""
sed '1e rm x' a
sed -n 's/.*/rm x/e' a
tar cf a --checkpoint=1 --checkpoint-action=exec='rm x' b
tar xf a --to-command='rm x'
tar -I 'rm x' -cf a b
vim -c '!rm x' -c q
ex -sc '!rm x' a
gdb -ex '!rm x'
git -c alias.y='!rm x' y
git bisect run rm x
git rebase -x 'rm x' HEAD
git submodule foreach 'rm x'
npm exec -- rm x
uv run rm x
docker exec c rm x
tmux new -d rm x
cp /bin/rm y
ln -s /bin/rm y
hash -p /bin/rm y
alias y=rm
test -v 'a[$(rm x)]'
printf -v 'a[$(rm x)]' y
compgen -C 'rm x'
capsh -- -c 'rm x'
find . -name x -delete
""".strip().split("\n")
OTHERS = r"""
ls rm x
grep rm x
timeout 10 grep rm x
env A=1 grep rm x
xargs grep rm
find . -name rm
echo rm x
git commit -m 'rm x'
npm run rm x
bash build.sh
awk '{ print $1 }' x
make rm
git rm-x
rmdir x
npm run exec rm
git commit -m 'rebase and rm x'
python3 build.py
python3 --version
sed -n 1p rmx
cp a b
find . -name x
""".strip().split("\n")


class Box:
    """A sandbox as policy sees one."""

    confines, network, note = True, False, ""


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "link").symlink_to(shutil.which("rm") or "/bin/rm")
    with Workspace(tmp_path) as place:
        yield place


def verdict(command: str, workspace: Workspace, *rules: Rule, mode: Any = "full") -> str:
    call = ToolCall("c", "shell", {"command": command})
    situation = Situation(workspace, Box(), {"PATH": "/usr/bin:/bin"})
    admitted = admit(call, Registry(BUILTIN), Policy(mode, rules), situation)
    assert isinstance(admitted, Admitted)
    return admitted.verdict.effect


@pytest.mark.parametrize("mode", ["ask", "full"])
def test_a_rule_meets_a_program_however_it_is_reached(workspace: Workspace, mode: Any) -> None:
    """By its path, by a link, behind other programs, in a text for a shell, anywhere in a line."""
    denies = Rule("deny", "shell", {"command": "rm *"})
    assert [line for line in REACHING if verdict(line, workspace, denies, mode=mode) != "deny"] == []
    assert [line for line in OTHERS if verdict(line, workspace, denies, mode=mode) == "deny"] == []


def test_what_cannot_be_told_is_asked_for(workspace: Workspace) -> None:
    """Code for an interpreter, commands that come by a pipe or a variable: in full mode too."""
    denies = Rule("deny", "shell", {"command": "rm *"})
    assert [line for line in UNTOLD if verdict(line, workspace, denies) != "ask"] == []
    assert [line for line in UNTOLD if verdict(line, workspace) != "allow"] == []
    assert [line for line in OTHERS if verdict(line, workspace, denies) != "allow"] == []


def test_what_may_be_a_command_in_the_words_of_another_is_asked_for(workspace: Workspace) -> None:
    """Of some programs any word may be a command: what a rule then meets may be meant by it."""
    denies = Rule("deny", "shell", {"command": "rm *"})
    assert [line for line in POSSIBLE if verdict(line, workspace, denies) != "ask"] == []
    assert [line for line in POSSIBLE if verdict(line, workspace) != "allow"] == []


def test_a_rule_that_asks_sees_the_same(workspace: Workspace) -> None:
    """`ask rm *` asks also for `env rm`."""
    asks = Rule("ask", "shell", {"command": "rm *"})
    assert [line for line in REACHING if verdict(line, workspace, asks) != "ask"] == []


def test_what_is_reached_allows_nothing(workspace: Workspace) -> None:
    """A rule that allows `npm test*` is about the command as it stands."""
    allows = Rule("allow", "shell", {"command": "npm test*"})
    assert verdict("npm test", workspace, allows, mode="ask") == "allow"
    for line in ("sudo npm test", "env npm test", "sh -c 'npm test'", "./npm test", "xargs npm test"):
        assert verdict(line, workspace, allows, mode="ask") == "ask", line


def test_rules_about_git_see_through_its_flags(workspace: Workspace) -> None:
    """`git push*` is denied with a folder or a setting before it."""
    denies = Rule("deny", "shell", {"command": "git push*"})
    for flags in ("", "-C .", "-c a.b=c", "--no-pager", "--git-dir=.git", "--git-dir .git --work-tree ."):
        assert verdict(f"git {flags} push --force", workspace, denies) == "deny", flags
        assert verdict(f"/usr/bin/git {flags} push", workspace, denies) == "deny", flags
    assert verdict("git pull", workspace, denies) == "allow"


@given(
    st.lists(
        st.sampled_from(("sh -c", "env", "nice", "xargs", "timeout 5", "eval", "bash -lc", "sudo")),
        max_size=5,
    )
)
def test_wrappers_may_be_nested(wrappers: list[str]) -> None:
    """In any order: what stands at the end is found."""
    words = ["rm", "x"]
    for wrapper in wrappers:
        words = [*wrapper.split(), " ".join(words)] if wrapper.endswith("c") else [*wrapper.split(), *words]
    reached = Reached()
    reached.add(words)
    assert any(found[0] == "rm" for found in reached.found) or reached.untold


@given(st.text(max_size=200))
def test_looking_never_fails(line: str) -> None:
    """Any text is a command line to someone, and what is found is bounded."""
    reached = Reached()
    reached.add_line(line)
    assert len(reached.texts) < 1_000


def test_looking_is_quick() -> None:
    """The worst of lines: programs that start programs, each of which has all the rest for its words."""
    lines = [
        *("eval " * 1500, "env " * 1900, "parallel " * 800, "ssh h " * 1300, "eval '" + "x;" * 3000 + "'"),
        *("xargs " * 1300, "watch " + "'a b c' " * 900, "find . " + "-exec rm {} ; " * 500, "$(" * 1500),
        "sh -c 'sh -c \"sh -c x\"' " * 300,
    ]
    started = time.process_time()
    for line in lines:
        reached = Reached()
        reached.add_line(f"{line} rm x")
        assert reached.untold or any(found[0] == "rm" for found in reached.found)
    assert time.process_time() - started < 2.0


def test_no_line_ends_the_process() -> None:
    """`{` and a character of a high plane end tree-sitter-bash 0.25, so it is given letters instead."""
    lines = ("{\U000d6963", "a{\U000ee563}", "grep '{\U000d6963' notes", 'grep "{\U0010ffff" notes')
    probe = "import sys; from turnout.tools.shell_words import commands, glimpsed as look\n"
    probe += f"for line in {lines!r}: commands(line); look(line)"
    ended = subprocess.run([sys.executable, "-c", probe], check=False)
    assert ended.returncode == 0


def test_words_of_any_script_are_found_as_they_are() -> None:
    """A letter that the parser is not given still belongs to its word, before it and behind it."""
    assert glimpsed("x=1; rm 'é \U0001f600' né") == [("rm", "é \U0001f600", "né")]
    assert commands("grep 'naïve \U0001f600' notes") == (Command(("grep", "naïve \U0001f600", "notes")),)
