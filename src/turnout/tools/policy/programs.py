"""The uses of everyday programs that only read: exact flags, and what the other words mean.

This is a list of what is allowed, so a flag that is not here leads to a question and not to a hole.
Long flags may not be abbreviated; short ones may be joined (`-la`). A program is missing on purpose
when a flag or an argument of it runs other programs, writes files or reaches the network in a way
that a list of flags does not show: awk, xargs, tar, less, man, env with a command, package managers,
and everything that talks to a server. For sed only scripts that print are allowed; each is read
whole.

    -n:number   takes a value: the next word, or what follows it (`-n5`, `--lines=5`)
    --color=never   a flag that is allowed with this value only
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, cast

from msgspec import Struct, field

from ..declare.tool import Risk

Value = Literal["number", "text", "path", "script"]
MANY = 10_000


class Program(Struct, frozen=True):
    """One program, or one command of it. Words that are not flags are operands.

    Operands are paths, except the first `texts` of them. `texts_by` are flags that replace those
    texts (`grep -e`). `bare` programs take every word as text (echo). `digits` allows `-5`. `words`
    limits what operands may be, and `avoids` is what no text among them may hold; `script` is what
    each of them, and each script that a flag takes, must match. `alone`: whether it may be called
    without a flag or a command.
    """

    flags: frozenset[str] = frozenset()
    takes: dict[str, Value] = field(default_factory=dict)
    operands: int = MANY
    texts: int = 0
    texts_by: frozenset[str] = frozenset()
    digits: bool = False
    bare: bool = False
    single_dash: bool = False
    words: str = ""
    avoids: str = ""
    script: str = ""
    risk: Risk = "read"
    commands: dict[str, Program] = field(default_factory=dict)
    alone: bool = True


def program(flags: str = "", *, texts_by: str = "", **more: Any) -> Program:
    """A program from its flags in one line; `more` are further fields of it."""
    listed = [flag.partition(":") for flag in flags.split()]
    plain = frozenset(name for name, _, kind in listed if not kind)
    takes = {name: cast(Value, kind) for name, _, kind in listed if kind}
    return Program(plain, takes, texts_by=frozenset(texts_by.split()), **more)


def _same_for(names: str, described: Program) -> Iterable[tuple[str, Program]]:
    return ((name, described) for name in names.split())


_COLOR = "--color --color=never --color=auto --color=always"
_VERSION = program("--version", operands=0, alone=False)  # without it they run their input

_GREP = program(
    "-r -R -n -i -l -L -c -v -w -x -E -F -G -P -o -q -s -h -H -a -I -b -T -z -Z "
    "--recursive --line-number --ignore-case --files-with-matches --files-without-match --count "
    "--invert-match --word-regexp --line-regexp --extended-regexp --fixed-strings --perl-regexp "
    "--only-matching --quiet --silent --no-messages --no-filename --with-filename --text --null "
    f"{_COLOR} -e:text --regexp:text -A:number -B:number -C:number --after-context:number "
    "--before-context:number --context:number -m:number --max-count:number --include:text "
    "--exclude:text --exclude-dir:text",
    texts=1,
    texts_by="-e --regexp",
)

_RG = program(
    "-n -N -i -s -S -l -c -v -w -x -F -P -o -q -H -I -a -U -u -uu -uuu -p -0 --line-number "
    "--no-line-number --ignore-case --case-sensitive --smart-case --files-with-matches "
    "--files-without-match --count --count-matches --invert-match --word-regexp --line-regexp "
    "--fixed-strings --pcre2 --only-matching --quiet --with-filename --no-filename --text "
    "--multiline --multiline-dotall --hidden --no-ignore --no-ignore-vcs --unrestricted --pretty "
    "--heading --no-heading --column --vimgrep --trim --json --stats --files --type-list --no-messages "
    f"{_COLOR} --no-config -e:text --regexp:text -A:number -B:number -C:number --after-context:number "
    "--before-context:number --context:number -m:number --max-count:number -d:number "
    "--max-depth:number --max-columns:number -M:number -g:text --glob:text --iglob:text -t:text "
    "--type:text -T:text --type-not:text --sort:text --sortr:text",
    texts=1,
    texts_by="-e --regexp --files --type-list",
)

_FIND = program(
    "-empty -not -and -or -a -o -prune -print -print0 -ls -true -false -readable -writable "
    "-executable -depth -xdev -mount -daystart -noleaf -P -maxdepth:number -mindepth:number "
    "-name:text -iname:text -path:text -ipath:text -wholename:text -iwholename:text -regex:text "
    "-iregex:text -regextype:text -type:text -xtype:text -size:number -mtime:number -mmin:number "
    "-atime:number -amin:number -ctime:number -cmin:number -newer:path -perm:text -user:text "
    "-group:text -links:number",
    single_dash=True,
)

_LS = program(
    "-l -a -A -1 -h -r -t -S -R -d -F -G -o -g -i -k -m -n -p -q -s -u -c -U -v -X -C -x -b -B -N -Q -L "
    "-H -Z --all --almost-all --human-readable --recursive --reverse --directory --classify --inode --size "
    "--numeric-uid-gid --group-directories-first --si --full-time --dereference --no-group "
    f"{_COLOR} --sort=size --sort=time --sort=name --sort=extension --sort=none --sort=version "
    "--time:text --time-style:text --format:text --hide:text --ignore:text -I:text -w:number --width:number"
)

_LOG = (
    "-p -u -n:number --oneline --graph --decorate --no-decorate --decorate=short --decorate=full --all "
    "--branches --tags --remotes --stat --shortstat --numstat --dirstat --summary --name-only --name-status "
    "--no-merges --merges --first-parent --reverse --follow --abbrev-commit --no-abbrev-commit --no-patch -s "
    "--patch --no-ext-diff --no-textconv --topo-order --date-order --author-date-order --full-history "
    "--pretty:text --format:text --date:text --max-count:number --skip:number --since:text --until:text "
    "--after:text --before:text --author:text --committer:text --grep:text -i --all-match --invert-grep -E "
    "-F -S:text -G:text -L:text --pickaxe-regex --diff-filter:text --cherry-pick --left-right --no-renames "
    "-M -C -w -b --word-diff --word-diff=plain --word-diff=porcelain --color-words -U:number "
    "--unified:number --no-color --color=never --color=always --color=auto --relative-date "
    "--ignore-all-space --ignore-space-change --ignore-blank-lines --raw --minimal --patience --histogram "
    "-z --no-notes --show-pulls --ancestry-path --boundary --parents --children --source --cc "
    "-c -m --full-index"
)
_DIFF = (
    "--cached --staged --merge-base --check --exit-code --quiet -R --stat --shortstat --numstat --dirstat "
    "--summary --name-only --name-status --no-ext-diff --no-textconv -p -u --patch -s --no-patch "
    "-U:number --unified:number --raw --minimal --patience --histogram --color=never --color=always "
    "--color=auto --no-color --word-diff --word-diff=plain --word-diff=porcelain --color-words --no-renames "
    "-M -C -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines "
    "--diff-filter:text -S:text -G:text --pickaxe-regex --relative -z --no-prefix --full-index --text -a"
)

_GIT = program(
    "--version",
    operands=0,
    commands={
        "status": program(
            "-s -b -u -z -v --short --branch --show-stash --long --porcelain --porcelain=v1 --porcelain=v2 "
            "--ignored -uno -unormal -uall --untracked-files=no --untracked-files=normal "
            "--untracked-files=all --no-renames --ahead-behind --no-ahead-behind --no-column"
        ),
        "log": program(_LOG, digits=True),
        "whatchanged": program(_LOG, digits=True),
        "show": program(_LOG, digits=True),
        "diff": program(_DIFF),
        "reflog": program("--oneline --all --date:text -n:number", digits=True, words=r"show|HEAD"),
        "shortlog": program("-s -n -e -c --summary --numbered --email --no-merges --since:text --until:text"),
        "blame": program(
            "-L:text -w -l -t -f -n -s -e -b -M -C --porcelain --line-porcelain --date:text "
            "--show-name --show-email --root"
        ),
        "branch": program(
            "-a -r -v -vv --all --remotes --verbose --list --show-current --no-color --no-column "
            "--sort:text --format:text --contains:text --no-contains:text --merged:text --no-merged:text "
            "--points-at:text",
            operands=0,  # one would be made
        ),
        "config": program(
            "-l --list --local --global --show-origin --show-scope --name-only -z --null --get:text "
            "--get-all:text --get-regexp:text",
            operands=0,  # two would be a setting and its new value
        ),
        "tag": program("-l --list -n --sort:text --format:text --no-column", operands=0),
        "remote": program("-v --verbose", operands=0, commands={"get-url": program("--all", operands=1)}),
        "stash": program(
            alone=False,  # it would put the changes away
            commands={
                "list": program("--oneline --date:text", operands=0),
                "show": program("-p -u --stat --name-only --name-status --patch"),
            },
        ),
        "worktree": program(
            operands=0, commands={"list": program("--porcelain -v --verbose -z", operands=0)}
        ),
        "rev-parse": program(
            "--show-toplevel --abbrev-ref --git-dir --git-common-dir --short --short:number --verify --quiet "
            "-q --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository "
            "--show-prefix --show-cdup --absolute-git-dir --symbolic-full-name --symbolic "
            "--show-superproject-working-tree"
        ),
        "rev-list": program(
            "--count --all --no-merges --merges --first-parent --left-right --reverse --since:text "
            "--until:text --author:text -n:number --max-count:number --oneline --parents",
            digits=True,
        ),
        "ls-files": program(
            "-c -d -m -o -i -s -u -t -v -z --cached --deleted --modified --others --ignored --stage "
            "--unmerged --exclude-standard --full-name --error-unmatch --directory --eol -x:text "
            "--exclude:text"
        ),
        "ls-tree": program("-d -r -t -l -z --long --name-only --name-status --full-name --full-tree"),
        "cat-file": program("-p -t -s -e"),
        "describe": program(
            "--tags --all --always --long --dirty --contains --exact-match --abbrev:number --match:text "
            "--exclude:text --first-parent"
        ),
        "merge-base": program("--all -a --octopus --is-ancestor --independent --fork-point"),
        "name-rev": program("--name-only --tags --always"),
        "for-each-ref": program(
            "--format:text --sort:text --count:number --contains:text --merged:text --no-merged:text"
        ),
        "show-ref": program("--heads --tags --head -d --dereference --verify -q --quiet --hash"),
        "symbolic-ref": program("--short -q --quiet", operands=1),
        "diff-tree": program(_DIFF + " -r -t --root --no-commit-id --cc -c -m"),
        # Not diff-files and diff-index: they look into submodules, whatever git is told about that.
        "grep": program(
            "-n -i -l -L -c -v -w -E -F -P -G -o -h -H -I -q -p -W -z --line-number --ignore-case "
            "--name-only --files-with-matches --files-without-match --count --invert-match --word-regexp "
            "--extended-regexp --fixed-strings --perl-regexp --only-matching --heading --break --column "
            "--cached --untracked --show-function --function-context --no-color --color=never -e:text "
            "-A:number -B:number -C:number --max-depth:number --all-match",
            texts=1,
            texts_by="-e",
        ),
        "check-ignore": program("-v -q -n --verbose --quiet --non-matching --no-index"),
        "count-objects": program("-v -H --verbose --human-readable", operands=0),
        "version": program("--build-options", operands=0),
    },
)

# Addresses and commands of sed that only choose and change what is printed. `w`, `W`, `r`, `e` and the
# flags `w` and `e` of `s` read, write and run; none of them can be written in this. Slashes stand for
# nothing but the ends of an expression: where sed and this could disagree about that, it does not fit.
_EXPRESSION = r"(?:[^/\\\[\]\n]|\\[^/\n]|\[\^?[^/\\\[\]\n]+\])"
_ADDRESS = rf"(?:\d{{1,9}}(?:~\d{{1,9}})?|\$|/{_EXPRESSION}+/I?)"
_SED_STEP = (
    rf"(?:{_ADDRESS}(?:,(?:{_ADDRESS}|[+~]\d{{1,9}}))? ?!? ?)?"
    rf"(?:[pdq=]|s/{_EXPRESSION}*/(?:[^/\\\n]|\\[^/\n])*/[gpIi0-9]{{0,4}})"
)
_SED = program(
    "-n -E -r -s -u -z --quiet --silent --regexp-extended --separate --unbuffered --null-data "
    "-e:script --expression:script",
    texts=1,
    texts_by="-e --expression",
    script=rf"{_SED_STEP}(?: ?; ?{_SED_STEP})*;?",
)

_SUMS = program("-b -t -z --binary --text --tag --zero")
_HEAD = program("-q -v -z -n:number -c:number --lines:number --bytes:number --quiet --verbose", digits=True)

PROGRAMS: dict[str, Program] = {
    # Files and folders
    "ls": _LS,
    "cat": program("-n -b -s -v -e -t -A -E -T --number --number-nonblank --squeeze-blank --show-all"),
    "head": _HEAD,
    "tail": _HEAD,
    "wc": program("-l -w -c -m -L --lines --words --bytes --chars --max-line-length"),
    "nl": program("-b:text -n:text -w:number -s:text -v:number"),
    "tac": program(),
    "rev": program(),
    "stat": program("-c:text --format:text --printf:text -f -t -L --terse --file-system --dereference"),
    "file": program("-b -i -h -L -k -r --brief --mime --mime-type --mime-encoding --dereference"),
    "du": program(
        "-s -h -a -c -k -m -b -x -S -L --summarize --human-readable --all --total --apparent-size --si "
        "--one-file-system -d:number --max-depth:number --exclude:text"
    ),
    "df": program("-h -H -i -k -T -a -l --human-readable --si --inodes --print-type --total"),
    "tree": program(
        "-a -d -f -i -p -s -h -u -g -D -F -C -n -l -x --noreport --dirsfirst --du --si --gitignore --prune "
        "-L:number -I:text -P:text --charset:text --filelimit:number"
    ),
    "find": _FIND,
    "basename": program("-a -z -s:text --multiple", texts=MANY),
    "dirname": program("-z", texts=MANY),
    "realpath": program("-e -m -s -q -z --canonicalize-existing --canonicalize-missing --no-symlinks"),
    "readlink": program("-f -e -m -n -q -v -z --canonicalize --no-newline"),
    **dict(_same_for("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum", _SUMS)),
    "cksum": program(),
    "cmp": program("-s -l -b --silent --quiet --verbose -n:number", operands=2),
    "diff": program(
        "-u -c -q -r -w -b -B -i -N -y -s -a -p -t -d -E -Z -e -n --brief --recursive --unified "
        "--side-by-side --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case "
        "--new-file --report-identical-files --suppress-common-lines --strip-trailing-cr --minimal "
        f"{_COLOR} -U:number -C:number -W:number --unified:number --width:number -x:text --exclude:text",
        operands=2,
    ),
    "comm": program("-1 -2 -3 -z --check-order --nocheck-order", operands=2),
    # Searching
    **dict(_same_for("grep egrep fgrep", _GREP)),
    "rg": _RG,
    # Text that goes through a pipe
    "sed": _SED,
    "sort": program(
        "-n -r -u -f -b -d -g -h -i -M -R -V -s -z -c -C -k:text -t:text --numeric-sort --reverse --unique "
        "--ignore-case --human-numeric-sort --version-sort --stable --check --key:text --field-separator:text"
    ),
    "uniq": program(
        "-c -d -D -u -i -z -f:number -s:number -w:number --count --repeated --unique --ignore-case",
        operands=1,  # a second one is written to
    ),
    "cut": program(
        "-s -z -n -d:text -f:text -c:text -b:text --only-delimited --complement --delimiter:text "
        "--fields:text --characters:text --bytes:text --output-delimiter:text"
    ),
    "tr": program("-d -s -c -C -t --delete --squeeze-repeats --complement --truncate-set1", texts=2),
    "paste": program("-s -z -d:text --serial --delimiters:text"),
    "join": program(
        "-i -z -a:number -v:number -1:number -2:number -j:number -t:text -o:text -e:text --header", operands=2
    ),
    "fold": program("-b -s -w:number --bytes --spaces --width:number"),
    "fmt": program("-c -s -t -u -w:number --width:number"),
    "expand": program("-i -t:text --initial --tabs:text"),
    "unexpand": program("-a -t:text --all --tabs:text"),
    "column": program("-t -x -s:text -c:number -o:text --table --separator:text --output-separator:text"),
    "jq": program(
        "-r -c -s -e -n -S -M -C -j -a -R --raw-output --compact-output --slurp --exit-status --null-input "
        "--sort-keys --monochrome-output --color-output --join-output --ascii-output --raw-input --tab "
        "--indent:number",
        texts=1,
        avoids=r"\b(?:import|include|modulemeta)\b",  # they read files, from wherever the text says
    ),
    "od": program("-c -x -b -d -o -a -v -A:text -t:text -N:number -j:number -w:number"),
    "xxd": program("-p -b -u -i -l:number -s:number -c:number -g:number", operands=1, single_dash=True),
    "hexdump": program("-C -b -c -d -o -x -v -n:number -s:number"),
    "strings": program(
        "-a -f -n:number -t:text --all --bytes:number --radix:text",
        words="(?!@).*",  # @file holds further words
    ),
    "base64": program("-d -w:number --decode --wrap:number", operands=1),
    "zcat": program(operands=MANY),
    "seq": program("-w -s:text -f:text --equal-width --separator:text", texts=3, operands=3),
    # The machine and the shell
    "pwd": program("-P -L", operands=0),
    "cd": program("-P -L", operands=1),
    "echo": program(bare=True),
    # %n would set a variable of the shell, PATH for one, for the commands that follow.
    "printf": program(texts=MANY, words=r"(?:[^%]|%[-0-9.]*[sdiuxXofgeGEcqb%])*"),
    "true": program(operands=0),
    "false": program(operands=0),
    "test": program(
        "-e:path -f:path -d:path -r:path -w:path -x:path -s:path -L:path -h:path -z:text -n:text", operands=0
    ),
    "type": program("-a -t -p -P", texts=MANY),
    "which": program("-a", texts=MANY),
    "command": program("-v:text -V:text", operands=0),
    "whoami": program(operands=0),
    "id": program("-u -g -G -n -r", operands=0),
    "groups": program(operands=0),
    "hostname": program("-s", operands=0),
    "uname": program("-a -s -n -r -v -m -p -i -o --all --machine --kernel-name --kernel-release", operands=0),
    "arch": program(operands=0),
    "nproc": program("--all", operands=0),
    "uptime": program("-p -s", operands=0),
    "free": program("-h -b -k -m -g -t -w --human --total", operands=0),
    "lscpu": program("-e -p -J --json", operands=0),
    "date": program(
        "-u -R -I -Iseconds -Iminutes -Idate -Ihours -Ins --utc --rfc-email --iso-8601 "
        "--iso-8601=seconds --iso-8601=date -d:text --date:text",
        texts=1,
        operands=1,
        words=r"\+.*",  # a word without the plus would set the clock
    ),
    "ps": program(
        "-e -f -A -a -u -x -l -j -p:text -o:text --forest --no-headers --sort:text",
        words="aux|ax",  # an `e` among them would show everyone's environment
    ),
    "printenv": program("-0 --null", texts=MANY),
    "env": program(operands=0),
    # Which version is installed
    **dict(_same_for("python python3 gcc g++ clang make cmake bash ruby perl", _VERSION)),
    "node": program("--version -v", operands=0, alone=False),
    "git": _GIT,
    # What makes room for files and cannot harm one
    "mkdir": program("-p -v --parents --verbose", risk="write"),
    "touch": program("-c --no-create", risk="write"),
}

DANGEROUS = frozenset(
    (
        *("rm", "rmdir", "shred", "truncate", "dd", "mkfs", "fdisk", "parted", "wipefs", "mount", "umount"),
        *("chmod", "chown", "chgrp", "chattr", "kill", "pkill", "killall", "sudo", "su", "doas", "pkexec"),
        *("shutdown", "reboot", "halt", "poweroff", "systemctl", "service", "crontab", "at", "iptables"),
        *("nft", "useradd", "userdel", "usermod", "passwd", "visudo", "mv", "ln", "install"),
    )
)
"""Programs whose effect often cannot be undone: the question says so."""
