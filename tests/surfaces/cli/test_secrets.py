"""Canaries: keys and tokens appear nowhere but in the header of a request to their own host."""

from __future__ import annotations

import json
import os
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import KEYS, User, simulated
from tests.surfaces.program import Program

from turnout.simulate import Call, HttpError, Say
from turnout.simulate.model import demo
from turnout.wire.shared.redaction import redact_keys
from turnout.world.secrets import Secrets, secrets_of, without_secrets

OTHERS = [
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_CLIENT_SECRET",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GCP_API_KEY",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITLAB_TOKEN",
    "NPM_TOKEN",
    "PYPI_TOKEN",
    "CARGO_REGISTRY_TOKEN",
    "DOCKER_PASSWORD",
    "DATABASE_PASSWORD",
    "PGPASSWORD",
    "MYSQL_ROOT_PASSWORD",
    "REDIS_PASSWORD",
    "MONGO_SECRET",
    "SSH_KEY",
    "GPG_PRIVATE_KEY",
    "STRIPE_SECRET_KEY",
    "SLACK_BOT_TOKEN",
    "TWILIO_AUTH_TOKEN",
    "SENDGRID_API_KEY",
    "SENTRY_AUTH_TOKEN",
    "DD_API_KEY",
    "VAULT_TOKEN",
    "JWT_SECRET",
    "SESSION_SECRET",
    "COOKIE_KEY",
    "ENCRYPTION_KEY",
]
CANARIES = {f"{name}_API_KEY": f"plain-canary-{number}-word" for number, name in enumerate(KEYS)}
CANARIES |= {name: f"other canary {number} text" for number, name in enumerate(OTHERS)}
IN_ADDRESS = "canary-in-an-address"
IN_FILES = {
    "key_file": "canary-from-a-file",
    "key_command": "canary-from-a-command",
    "mcp": "canary-for-a-server",
}
EVERY = [value.encode() for value in (*CANARIES.values(), *IN_FILES.values(), IN_ADDRESS)]
assert len(EVERY) > 40


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    """A user with a canary in every place where people keep secrets."""
    with simulated(tmp_path, demo) as user:
        user.environment.update(CANARIES, DATABASE_URL=f"postgres://me:{IN_ADDRESS}@host/db")
        settings = user.home / ".config/turnout"
        settings.mkdir(parents=True)
        (tmp_path / "key").write_text(IN_FILES["key_file"])
        command = [
            sys.executable,
            "-c",
            f"print({IN_FILES['key_command'][:10]!r} + {IN_FILES['key_command'][10:]!r})",
        ]
        (settings / "config.toml").write_text(
            f'[targets.filed]\ntarget = "openai:gpt-4o"\nkey_file = "{tmp_path / "key"}"\n'
            f'[targets.told]\ntarget = "anthropic:claude-sonnet-4-5"\nkey_command = {command!r}\n'
        )
        (settings / "mcp.json").write_text(
            f'{{"mcpServers": {{"x": {{"command": "x", "env": {{"T": "{IN_FILES["mcp"]}"}}}}}}}}'
        )
        yield user


def leaks(*texts: bytes) -> list[bytes]:
    return [canary for canary in EVERY for text in texts if canary in text]


def files_below(place: Path) -> Iterator[bytes]:
    for path in place.rglob("*"):
        if path.is_file() and path.name != "mcp.json":
            yield path.read_bytes()


def test_no_secret_is_written_or_shown(somebody: User, tmp_path: Path) -> None:
    """Not in answers, progress, the debug log, the store, the counters or any other file."""
    log = tmp_path / "debug.log"
    said = []
    for target in ("openai:gpt-4o", "filed", "told", "gemini:gemini-2.5-pro"):
        ask = (
            "run",
            "-m",
            target,
            "--approval-mode",
            "full",
            "--debug",
            str(log),
            "--output-format",
            "stream-json",
        )
        ran = run(
            somebody, *ask, "-p", "run `env; cat /proc/self/environ; cat /proc/self/cmdline` and read app.py"
        )
        assert ran.code == 0
        said.append(ran.out + ran.err)
    for command in (
        ("config",),
        ("config", "--json"),
        ("providers",),
        ("providers", "--check"),
        ("stats", "--json"),
    ):
        ran = run(somebody, *command)
        said.append(ran.out + ran.err)

    assert somebody.simulation is not None
    sent = [value for seen in somebody.simulation.exchanges for value in seen.headers.values()]
    assert any(IN_FILES["key_command"] in value for value in sent)  # they were used, so they could leak
    assert any(IN_FILES["key_file"] in value for value in sent)
    assert leaks(*(text.encode() for text in said)) == []
    assert log.stat().st_size > 10_000 and log.stat().st_mode & 0o777 == 0o600
    assert leaks(log.read_bytes(), *files_below(somebody.home), *files_below(somebody.folder)) == []


def test_a_provider_that_echoes_the_key_gives_nothing_away(tmp_path: Path) -> None:
    """Error messages quote what was sent; they are shown, logged and stored without it."""
    key = "sk-canary0123456789abcdefghij"
    echo = HttpError(
        "auth", message=f"Incorrect API key provided: {key}. You sent Authorization: Bearer {key}"
    )
    with simulated(tmp_path, [echo] * 3) as user:
        user.environment["OPENAI_API_KEY"] = key
        log = tmp_path / "debug.log"
        ran = run(
            user, "run", "-m", "openai:gpt-4o", "-p", "go", "--debug", str(log), "--output-format", "json"
        )

    assert ran.code == 3
    assert key not in ran.out + ran.err + log.read_text()
    assert not any(key.encode() in data for data in files_below(user.home))


ECHOED = 'plain+canary/of no-known_form "7" & more letters'
WAYS = {
    "as it is": str,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "URL": lambda text: quote(text, safe=""),
    "hex": lambda text: text.encode().hex(),
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64 of a header": lambda text: b64encode(f"Bearer {text}".encode()).decode(),
}


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
def test_a_key_without_a_prefix_is_hidden_in_every_encoding(
    tmp_path: Path, write: Callable[[str], str], form: str
) -> None:
    """A server quotes it when it refuses, and again in its answer: no output and no log has it."""
    echo = f"You sent <{write(ECHOED)}> to us."
    with simulated(tmp_path, [HttpError("auth", message=echo), [Say(echo)]]) as user:
        user.environment["OPENAI_API_KEY"] = ECHOED
        log = tmp_path / "debug.log"
        ask = ("run", "-m", "openai:gpt-4o", "-p", "go", "--output-format", form, "--debug", str(log))
        refused, answered = run(user, *ask), run(user, *ask)
        exported = run(user, "sessions", "export", first_session(user), "--format", "jsonl")

    assert (refused.code, answered.code) == (3, 0)
    middle = write(ECHOED)[12:-8]
    told = [refused.out + refused.err, answered.out + answered.err, exported.out, log.read_text()]
    assert "[redacted]" in told[0] and "[redacted]" in told[1]
    assert not any(middle[at : at + 10] in text for at in range(len(middle) - 9) for text in told)


def first_session(user: User) -> str:
    """The session that was written last."""
    listed = json.loads(run(user, "sessions", "--json").out)
    return str(listed[0]["id"])


def test_no_secret_is_on_the_screen_or_with_a_child(somebody: User, tmp_path: Path) -> None:
    """Tools and `!commands` run without the user's keys, in their environment and in their arguments."""
    arguments = ("-m", "told", "--approval-mode", "full", "--debug", str(tmp_path / "log"))
    with Program(arguments, somebody.environment, somebody.folder) as program:
        program.wait(r"^❯$")
        program.say("run `env; sleep 60`")
        program.wait(r"· running 1 s", scrolled=False)
        family = descendants(program.pid)
        assert len(family) >= 2
        for pid in family:
            assert leaks(read(f"/proc/{pid}/environ"), read(f"/proc/{pid}/cmdline")) == []
        assert leaks(read(f"/proc/{program.pid}/cmdline")) == []
        program.key("esc")
        program.wait("Interrupted")
        program.say("!env")
        program.wait(r"● ! env\n  ⎿ ")
        program.say("/status")
        program.say("/mcp")
        program.wait(r"MCP servers;.*\n  x  untrusted")
        program.key("ctrl+d")
        program.ended()
    assert (
        leaks(bytes(program.finish_arguments), *files_below(somebody.home), (tmp_path / "log").read_bytes())
        == []
    )


def read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def descendants(pid: int) -> list[int]:
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := re.search(rb"\) \S (\d+)", read(f"/proc/{name}/stat"))):
            parents[int(name)] = int(found[1])
    family = [pid]
    for one in family:
        family += [child for child, parent in parents.items() if parent == one]
    return family[1:]


def test_a_crash_shows_no_secret(somebody: User) -> None:
    """A tool call that cannot work fails without telling what the environment holds."""
    with simulated(somebody.folder.parent, [[Call("shell", {"command": "\0"})], [Say("ok")]]) as user:
        user.environment.update(CANARIES)
        ran = run(
            user,
            "run",
            "-m",
            "openai:gpt-4o",
            "--approval-mode",
            "full",
            "-p",
            "go",
            "--output-format",
            "json",
        )

    assert leaks((ran.out + ran.err).encode()) == []


def test_secrets_are_known_by_their_place_and_by_their_looks() -> None:
    """Values of key variables are redacted, and texts in the form of a key."""
    environment = {"X_API_KEY": 'a quoted "word"', "HOME": "/home/me", "MY_TOKEN": "abc"}

    assert secrets_of(environment) == {'a quoted "word"', "abc"}
    line = r'{"said": "a quoted \"word\" and sk-0123456789abcdef"}'
    assert without_secrets(line, secrets_of(environment)) == '{"said": "[redacted] and [redacted]"}'


@pytest.mark.parametrize("write", [quote_plus, lambda text: b64encode(text.encode()).decode(), quote])
def test_secrets_are_known_however_they_are_encoded(write: Callable[[str], str]) -> None:
    """A query, a header of basic authentication, an address: all of them tell the same."""
    secret = "p/s w+rd éà"
    line = f"they sent {write(secret)} to us"
    assert without_secrets(line, [secret]).startswith("they sent [redacted]")


def test_a_password_in_an_address_is_a_secret() -> None:
    """The password of a URL is redacted."""
    environment = {"HTTPS_PROXY": "http://me:hunter222@proxy.example:3128", "NO_PROXY": "localhost"}
    assert secrets_of(environment) == {"hunter222"}
    assert redact_keys("at https://me:hunter222@host/x") == "at https://[redacted]@host/x"
    assert redact_keys("at https://host:8080/@me and a:b@c") == "at https://host:8080/@me and a:b@c"


def test_a_password_in_an_address_is_not_shown(somebody: User) -> None:
    """Settings and the status show a base URL without its password."""
    settings = somebody.home / ".config/turnout/config.toml"
    settings.write_text('[targets.x]\ntarget = "openai:gpt-4o"\nbase_url = "http://me:hunter222@h/v1"\n')
    shown = [run(somebody, "config"), run(somebody, "config", "--json")]
    shown.append(run(somebody, "chat", "-m", "x", "--no-store", stdin="/status\n"))

    assert all("[redacted]@h" in each.out and "hunter222" not in each.out for each in shown)


def test_a_clipboard_program_is_given_no_key(somebody: User, tmp_path: Path) -> None:
    """It may stay in memory for hours: it knows the screen, and nothing else."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "xclip").write_text(f"#!/bin/sh\nenv > {tmp_path}/known; cat > {tmp_path}/copied\n")
    (programs / "xclip").chmod(0o755)
    somebody.environment.update(PATH=f"{programs}:{somebody.environment['PATH']}", DISPLAY=":7")

    ran = run(somebody, "chat", "-m", "openai:gpt-4o", "--no-store", stdin="hello\n/copy\n")

    assert "Copied" in ran.out and (tmp_path / "copied").read_text().startswith("You said: hello")
    known = (tmp_path / "known").read_bytes()
    assert b"DISPLAY=:7" in known and leaks(known) == []


def test_exports_hold_no_secret(somebody: User) -> None:
    """In every form, of a conversation whose tools have looked for one."""
    ask = ("run", "-m", "told", "--approval-mode", "full", "-p", "run `env; cat /proc/self/environ`")
    id = run(somebody, *ask, "--output-format", "json").result["session_id"]
    exported = [
        run(somebody, "sessions", "export", id, "--format", form) for form in ("jsonl", "markdown", "html")
    ]
    run(somebody, "chat", "-r", id, stdin="/export a.md\n/export b.html\n/export c.jsonl\n")

    assert all(each.code == 0 and "PATH=" in each.out for each in exported)
    assert len(list(somebody.folder.glob("[abc].*"))) == 3
    assert leaks(*(each.out.encode() for each in exported), *files_below(somebody.folder)) == []


def test_keys_that_a_session_reads_are_secrets_too() -> None:
    """A key from a file or a command is redacted like one from the environment."""
    secrets = Secrets({})
    secrets.keys = lambda: ("from a file",)

    assert secrets.hide("you sent: from a file") == "you sent: [redacted]"
