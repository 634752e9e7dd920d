"""`turnout view` as a process: its first line, its one-time link, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path


def test_the_first_line_is_a_link_that_signs_in(tmp_path: Path) -> None:
    """A browser that opens it sees the sessions; Ctrl+C ends the command."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
    command = [sys.executable, "-m", "turnout", "view", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**kept, "HOME": str(tmp_path)}, cwd=tmp_path, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("turnout: viewing at http://127.0.0.1:") and "/?once=" in line
            handlers = [urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())]
            with urllib.request.build_opener(*handlers).open(line.split()[-1], timeout=20) as answer:
                assert answer.url.endswith("/sessions") and b"<h1>Sessions</h1>" in answer.read()
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
        finally:
            process.kill()
