"""Attempts to get out of the sandbox, as data: each is a few lines that must fail.

The code runs inside, each attempt in a separate process. It succeeds by running to its end, and is
denied by an error of the system. Any other end is a fault of the attempt itself and proves nothing.
`stage` tells it where the things are that it must not reach.

A probe must do no harm where nothing stops it: it only touches what was made for it, or opens
without writing, or sets a value that is already set. Addresses are those that the standards reserve
for documentation.
"""

from __future__ import annotations

from msgspec import Struct


class Probe(Struct, frozen=True):
    """One attempt. `without` marks those that need a workspace without `.git` and settings."""

    name: str
    code: str
    without: bool = False


DENIALS = (
    *("EPERM", "ENOENT", "ESRCH", "EACCES", "EBUSY", "EEXIST", "EXDEV", "EROFS", "ENOSYS"),
    *("ENETUNREACH", "EHOSTUNREACH", "ECONNREFUSED", "EADDRNOTAVAIL", "EAFNOSUPPORT"),
)
"""The errors by which the system denies something."""

_SYSCALL = "import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
_CHECK = "\nif result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))"


def _syscall_probe(name: str, code: str, then: str = "") -> Probe:
    return Probe(name, f"{_SYSCALL}result = {code}{_CHECK}{then}")


def _any_writable(name: str, start: str, leave_out: str = "") -> Probe:
    """Open whatever is below a folder of /proc for writing, and write nothing."""
    return Probe(
        name,
        "found = []\n"
        f"for folder, folders, files in os.walk({start!r}):\n"
        f"    if folder == '/proc': folders[:] = [each for each in folders if not each.isdigit()"
        f" and each not in ('self', 'thread-self', {leave_out!r})]\n"
        "    for each in files:\n"
        "        try: os.close(os.open(f'{folder}/{each}', os.O_WRONLY | os.O_NONBLOCK))\n"
        "        except OSError: continue\n"
        "        found.append(f'{folder}/{each}')\n"
        "if not found: raise PermissionError(1, 'none of them can be opened for writing')\n"
        "detail = ', '.join(found[:5])",
    )


_STAYS = """
if not os.stat({0!r}).st_mode & 0o6000: raise PermissionError(1, 'the bit was lost')"""


def _set_id(name: str, path: str, code: str) -> Probe:
    """Make a file that runs with the rights of its owner or its group."""
    return Probe(name, code + _STAYS.format(path))


def _set_id_call(name: str, path: str, code: str) -> Probe:
    return _syscall_probe(name, code, _STAYS.format(path))


WRITING = (
    Probe("write a new file outside", "open(stage['outside'] + '/new', 'w').write('x')"),
    Probe("write over a file outside", "open(stage['outside'] + '/secret', 'w').write('x')"),
    Probe("delete a file outside", "os.unlink(stage['outside'] + '/secret')"),
    Probe("rename a file outside", "os.rename(stage['outside'] + '/secret', stage['outside'] + '/gone')"),
    Probe("change the mode of a file outside", "os.chmod(stage['outside'] + '/secret', 0o777)"),
    Probe("write through a link that was there", "open('link/secret', 'a').write('x')"),
    Probe(
        "write through a link made inside",
        "os.symlink(stage['outside'], 'made'); open('made/secret', 'a').write('x')",
    ),
    Probe("hard-link a file outside", "os.link(stage['outside'] + '/secret', 'linked')"),
    Probe("write into the system", "os.open('/usr', os.O_TMPFILE | os.O_WRONLY)"),
    Probe("write over a system setting", "os.open('/etc/passwd', os.O_WRONLY)"),
    Probe("write into the root folder", "os.open('/', os.O_TMPFILE | os.O_WRONLY)"),
    Probe("move the workspace away", "os.rename(stage['root'], stage['root'] + '-moved')"),
)
READING = (
    Probe("read a file outside", "open(stage['outside'] + '/secret').read()"),
    Probe("read a file outside through a link", "open('link/secret').read()"),
    Probe("read an SSH key", "open(stage['home'] + '/.ssh/id_ed25519').read()"),
    Probe("read cloud credentials", "open(stage['home'] + '/.aws/credentials').read()"),
    Probe("read our own settings", "open(stage['home'] + '/.config/turnout/config.toml').read()"),
    Probe("read our own sessions", "open(stage['home'] + '/.local/share/turnout/sessions.db').read()"),
    Probe("read the passwords of the system", "open('/etc/shadow').read()"),
    Probe("list the folder beside the workspace", "os.listdir(stage['outside'])"),
    Probe(
        "read through another process's root", "open('/proc/1/root' + stage['outside'] + '/secret').read()"
    ),
    Probe("read the environment of other processes", "open(f\"/proc/{stage['victim']}/environ\").read()"),
    Probe(
        "find a secret in our environment",
        "if 'TURNOUT_CANARY' not in os.environ: raise PermissionError(1, 'it is not there')",
    ),
    Probe("open the memory of the machine", "open('/dev/mem', 'rb')"),
    Probe("open the memory of the kernel", "open('/proc/kcore', 'rb')"),
    Probe("see the devices of the machine", "os.listdir('/sys')"),
)
NETWORK = (
    Probe(
        "connect to a port of this machine",
        "import socket; socket.create_connection(('127.0.0.1', stage['port']), 2)",
    ),
    Probe("connect over IPv6", "import socket; socket.create_connection(('2001:db8::1', 443), 2)"),
    Probe("connect to another machine", "import socket; socket.create_connection(('203.0.113.1', 443), 2)"),
    Probe("send a datagram", "import socket; socket.socket(2, 2).sendto(b'x', ('203.0.113.1', 9))"),
    Probe("know a name server", "open('/etc/resolv.conf').read()"),
    Probe(
        "connect to a unix socket outside",
        "import socket; socket.socket(1, 1).connect(stage['outside'] + '/socket')",
    ),
    Probe(
        "connect to an abstract unix socket",
        "import socket; socket.socket(1, 1).connect('\\0' + stage['abstract'])",
    ),
    Probe("open a raw socket", "import socket; socket.socket(2, 3, 1)"),
    Probe("open a packet socket", "import socket; socket.socket(17, 3, 0)"),
    Probe("open a socket to the host of this machine", "import socket; socket.socket(40, 1, 0)"),
)
PROCESSES = (
    Probe("signal a process outside", "os.kill(stage['victim'], 0)"),
    Probe("see processes outside", "os.stat(f\"/proc/{stage['victim']}\")"),
    _syscall_probe("trace a process outside", "libc.ptrace(16, stage['victim'], 0, 0)"),
    _syscall_probe("trace a process of its own", "libc.ptrace(0, 0, 0, 0)"),
    _syscall_probe("make a user namespace", "libc.unshare(0x10000000)"),
    _syscall_probe("make a mount namespace", "libc.unshare(0x20000)"),
    _syscall_probe(
        "mount", "libc.mount(b'none', b'mountpoint', b'tmpfs', 0, None) or libc.umount2(b'mountpoint', 2)"
    ),
    _syscall_probe("unmount", "libc.umount2(stage['root'].encode(), 2)"),
    _syscall_probe("change the root folder", "libc.chroot(b'/tmp')"),
    _syscall_probe("make a device", "libc.mknod(b'device', 0o060600, 0x0801)"),
    _syscall_probe("keep a key in the kernel", "libc.syscall(stage['add_key'], b'user', b'x', b'x', 1, -2)"),
    _syscall_probe(
        "set the name of the machine",
        "libc.sethostname(os.uname().nodename.encode(), len(os.uname().nodename))",
    ),
)
KERNEL = (
    Probe(
        "name a program that the kernel runs on a crash",
        "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
    ),
    Probe("name a program that loads modules", "os.open('/proc/sys/kernel/modprobe', os.O_WRONLY)"),
    Probe("restart the machine by a key of the kernel", "os.open('/proc/sysrq-trigger', os.O_WRONLY)"),
    _any_writable("write any setting of the kernel", "/proc/sys"),
    _any_writable("write anything else of /proc", "/proc", leave_out="sys"),
    Probe("make a file among the devices", "os.open('/dev', os.O_TMPFILE | os.O_WRONLY)"),
)
PRIVILEGES = (
    _set_id("make a program that runs as its owner", "mine", "open('mine', 'w'); os.chmod('mine', 0o4755)"),
    _set_id("make a program that runs as its group", "ours", "open('ours', 'w'); os.chmod('ours', 0o2755)"),
    _set_id(
        "make such a program by its descriptor",
        "held",
        "file = open('held', 'w'); os.fchmod(file.fileno(), 0o4755)",
    ),
    _set_id(
        "make such a program beside a folder",
        "near",
        "open('near', 'w'); os.chmod('near', 0o6755, dir_fd=os.open('.', 0))",
    ),
    _set_id(
        "make such a program at once", "born", "os.close(os.open('born', os.O_CREAT | os.O_WRONLY, 0o4755))"
    ),
    _set_id("make such a program as a node", "node", "os.mknod('node', 0o104755)"),
    _set_id(
        "make such a program without a name",
        "named",
        "file = os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o4755)\n"
        "os.link(f'/proc/self/fd/{file}', 'named', src_dir_fd=file, follow_symlinks=True)",
    ),
    _set_id_call(
        "make such a program by openat2",
        "second",
        "libc.syscall(437, -100, b'second', __import__('struct').pack('QQQ', 0o101, 0o4755, 0), 24)",
    ),
    _set_id_call(
        "make such a program by fchmodat2",
        "third",
        "open('third', 'w').close() or libc.syscall(452, -100, b'third', 0o4755, 0)",
    ),
)
ORDERS = (
    Probe("write a git hook", "open('.git/hooks/pre-commit', 'w').write('x')"),
    Probe("write the git configuration", "open('.git/config', 'a').write('x')"),
    Probe("move .git away", "os.rename('.git', 'git')"),
    Probe("remove a git hook", "os.unlink('.git/hooks/sample')"),
    Probe(
        "write our project settings",
        "os.makedirs('.turnout', exist_ok=True); open('.turnout/config.toml', 'w').write('x')",
    ),
    Probe("replace the MCP settings", "os.rename('a', '.mcp.json')"),
    Probe("write the MCP settings", "open('.mcp.json', 'w').write('x')"),
    Probe(
        "make .git where there is none", "os.makedirs('.git/hooks'); open('.git/config', 'w')", without=True
    ),
    Probe("remove the cover and make .git", "os.rmdir('.git'); os.mkdir('.git')", without=True),
    Probe("make .git by moving a folder", "os.mkdir('g'); os.rename('g', '.git')", without=True),
    Probe("link .git elsewhere", "os.symlink('/tmp', '.git')", without=True),
    Probe(
        "make project settings",
        "os.makedirs('.turnout', exist_ok=True); open('.turnout/config.toml', 'w').write('x')",
        without=True,
    ),
)
PROBES = (*READING, *NETWORK, *PROCESSES, *KERNEL, *PRIVILEGES, *ORDERS, *WRITING)

RUNNER = """
import json, os, sys
stage = json.loads(sys.argv[1])
facts = {"namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "net", "mnt", "ipc")}}
with open("/proc/self/status") as file:
    for line in file:
        if line.startswith(("Seccomp:", "NoNewPrivs:", "CapEff:")):
            facts[line.split(":")[0]] = line.split()[1]
print(json.dumps(facts), flush=True)
for name, code in stage["probes"]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        scope = {"stage": stage, "os": os}
        try:
            exec(code, scope)
            said = ["through", scope.get("detail", "")]
        except OSError as error:
            said = ["error", f"{type(error).__name__}: {error}", error.errno]
        except BaseException as error:
            said = ["fault", f"{type(error).__name__}: {error}"]
        os.write(writer, json.dumps([name, *said]).encode())
        os._exit(0)
    os.close(writer)
    said = os.read(reader, 65536).decode() or json.dumps([name, "fault", "it was killed"])
    os.waitpid(child, 0)
    os.close(reader)
    print(said, flush=True)
"""
"""What runs inside: says how it is confined, then tries each probe and says how that ended."""
