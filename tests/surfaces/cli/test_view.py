"""`turnout view` as a process: its first line, its one-time link, its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import msgspec
import pytest
from tests.store.servers import Server
from tests.surfaces.pages.shown import sample_history

from turnout import Store, ToolCall
from turnout.history.waiting import WaitingCall

HISTORY = sample_history()


@contextmanager
def view(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process, and its first line."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
    command = [sys.executable, "-m", "turnout", "view", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**kept, "HOME": str(folder)}
    with subprocess.Popen(command, **pipes, env=environment, cwd=folder, text=True) as process:  # type: ignore[call-overload]
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def browser() -> urllib.request.OpenerDirector:
    """Keeps cookies, and uses no proxy."""
    cookies = urllib.request.HTTPCookieProcessor(CookieJar())
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies)


def test_the_first_line_is_a_link_that_signs_in(tmp_path: Path) -> None:
    """A browser that opens it sees the sessions; Ctrl+C ends the command."""
    with view(tmp_path, "--port", "0") as (process, line):
        assert line.startswith("turnout: viewing at http://127.0.0.1:") and "/?once=" in line
        with browser().open(line.split()[-1], timeout=20) as answer:
            assert answer.url.endswith("/sessions") and b"<h1>Sessions</h1>" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_a_store_on_postgresql_is_shown(tmp_path: Path) -> None:
    """`--store postgresql://…`: every page answers, and a waiting call can be answered."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'turnout[postgres]'")
    server = Server()
    try:
        with Store.at(server.url, heartbeat=False) as store:
            store.add(HISTORY, title="On PostgreSQL")
            add_waiting_call(store)
        with view(tmp_path, "--store", server.url) as (_, line):
            opened, base = browser(), line.split()[-1].partition("/?")[0]
            opened.open(line.split()[-1], timeout=20).close()
            for path in PATHS:
                with opened.open(base + path, timeout=20) as answer:
                    assert answer.status == 200 and b"<h1>" in answer.read(), path
            nonce = re.search(rb'name="nonce" value="([^"]+)"', opened.open(f"{base}/waiting").read())
            assert nonce
            form = urlencode({"nonce": nonce[1].decode(), "answer": "no", "text": "never"}).encode()
            assert b"Answered" in opened.open(f"{base}/waiting", form, timeout=20).read()
        with Store.at(server.url, heartbeat=False) as store:
            assert store.waiting_calls()[0].answered
    finally:
        server.remove()


PATHS = (
    *("/sessions", "/sessions?words=parse&group=provider", "/sessions/sample", "/numbers", "/requests"),
    *("/sessions/sample/as/gemini:gemini-2.5-pro", "/sessions/sample/export.html"),
)


def add_waiting_call(store: Store) -> None:
    history = store.open("w")
    history.user("Go.")
    (call,) = history.reply("openai:m", [ToolCall("c1", "shell", {"command": "ls"})]).tool_calls
    waiting = WaitingCall("w", call.id, "shell", {"command": "ls"}, "approval", {"why": "it may write"})
    history.note("waiting_call", msgspec.to_builtins(waiting))
    store.release("w")


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/nothing", "not-there.db"])
def test_a_store_that_cannot_be_opened_is_named_at_once(tmp_path: Path, url: str) -> None:
    """No link is printed; the error says which store, and the exit code is not 0."""
    with view(tmp_path, "--store", url) as (process, line):
        said = process.communicate(timeout=60)[1]
        assert line == "" and process.returncode != 0
        assert ("127.0.0.1" in said or "not-there.db" in said) and "Traceback" not in said
