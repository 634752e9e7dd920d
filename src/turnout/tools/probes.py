"""Attempts to get out of the sandbox, as data: each is a few lines that must fail.

The code runs inside, in a process of its own for each. It succeeds by coming to its end,
and is denied by raising. `stage` tells it where the things are that it must not reach.

A probe may do no harm where nothing stops it, for that is when it matters: it touches
what the stage made for it, or opens and does not write, or sets what is already so.
Addresses are those that the standards keep for documentation.
"""

from __future__ import annotations

from msgspec import Struct


class Probe(Struct, frozen=True):
    """One attempt. `without` marks those that need a workspace without `.git` and settings."""

    name: str
    code: str
    without: bool = False


_SYSCALL = "import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
_CHECK = "\nif result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))"


def _call(name: str, code: str) -> Probe:
    return Probe(name, f"{_SYSCALL}result = {code}{_CHECK}")


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
        "raise OSError('none') if 'TURNOUT_CANARY' not in os.environ else 0",
    ),
    Probe("open the memory of the machine", "open('/dev/mem', 'rb')"),
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
    _call("trace a process outside", "libc.ptrace(16, stage['victim'], 0, 0)"),
    _call("trace a process of its own", "libc.ptrace(0, 0, 0, 0)"),
    _call("make a user namespace", "libc.unshare(0x10000000)"),
    _call("make a mount namespace", "libc.unshare(0x20000)"),
    _call("mount", "libc.mount(b'none', b'mountpoint', b'tmpfs', 0, None) or libc.umount2(b'mountpoint', 2)"),
    _call("unmount", "libc.umount2(stage['root'].encode(), 2)"),
    _call("change the root folder", "libc.chroot(b'/tmp')"),
    _call("make a device", "libc.mknod(b'device', 0o060600, 0x0801)"),
    _call("keep a key in the kernel", "libc.syscall(stage['add_key'], b'user', b'x', b'x', 1, -2)"),
    _call(
        "set the name of the machine",
        "libc.sethostname(os.uname().nodename.encode(), len(os.uname().nodename))",
    ),
)
ORDERS = (
    Probe("write a git hook", "open('.git/hooks/pre-commit', 'w').write('x')"),
    Probe("write the git configuration", "open('.git/config', 'a').write('x')"),
    Probe("move .git away", "os.rename('.git', 'git')"),
    Probe("remove a git hook", "os.unlink('.git/hooks/sample')"),
    Probe("write our project settings", "open('.turnout/config.toml', 'w').write('x')"),
    Probe("replace the MCP settings", "os.rename('a', '.mcp.json')"),
    Probe("write the MCP settings", "open('.mcp.json', 'w').write('x')"),
    Probe(
        "make .git where there is none", "os.makedirs('.git/hooks'); open('.git/config', 'w')", without=True
    ),
    Probe("remove the cover and make .git", "os.rmdir('.git'); os.mkdir('.git')", without=True),
    Probe("make .git by moving a folder", "os.mkdir('g'); os.rename('g', '.git')", without=True),
    Probe("link .git elsewhere", "os.symlink('/tmp', '.git')", without=True),
    Probe("make project settings", "open('.turnout/config.toml', 'w').write('x')", without=True),
)
PROBES = (*READING, *NETWORK, *PROCESSES, *ORDERS, *WRITING)

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
        try:
            exec(code, {"stage": stage, "os": os})
            said = ""
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, json.dumps([name, said]).encode())
        os._exit(0)
    os.close(writer)
    said = os.read(reader, 65536).decode() or json.dumps([name, "killed"])
    os.waitpid(child, 0)
    os.close(reader)
    print(said, flush=True)
"""
"""What runs inside: says how it is confined, then tries each probe. No word of a probe: it got through."""
