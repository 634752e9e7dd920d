"""A gateway as a process: started with a configuration of its own, measured from outside, and ended."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from msgspec import Struct

TOKEN = "sk-bench"
START = 120.0  # seconds that a gateway may take to start


class GatewayProcess(Struct, frozen=True):
    """A running gateway."""

    address: str
    pid: int

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far, of the process and the children it has."""
        return sum(_cpu_of(pid) for pid in (self.pid, *_children(self.pid)))

    @property
    def megabytes(self) -> float:
        """The memory that it holds."""
        return sum(_resident(pid) for pid in (self.pid, *_children(self.pid))) / 2**20


def _cpu_of(pid: int) -> float:
    """Seconds of CPU of all threads that live, in nanoseconds of the kernel."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in threads) / 1e9


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in path.read_text().split()] if path.exists() else []


@contextmanager
def turnout_gateway(upstream: str, folder: Path) -> Iterator[GatewayProcess]:
    """`turnout serve`, with its files in a folder of its own."""
    settings = folder / "config"
    (settings / "turnout").mkdir(parents=True)
    (settings / "turnout" / "config.toml").write_text('[gateway]\ndefault = "openai:words-10"\n')
    environment = {
        **_clean_environment(folder),
        "XDG_CONFIG_HOME": str(settings),
        "OPENAI_API_KEY": "x",
        "OPENAI_BASE_URL": f"{upstream}/v1",
        "TURNOUT_GATEWAY_TOKEN": TOKEN,
    }
    command = [sys.executable, "-m", "turnout", "serve", "--port", "0"]
    with _running(command, environment, folder / "turnout.log") as process:
        address = _wait_for(lambda: _printed_address(folder / "turnout.log"), process, folder / "turnout.log")
        yield GatewayProcess(address, process.pid)


@contextmanager
def litellm_gateway(upstream: str, folder: Path) -> Iterator[GatewayProcess]:
    """litellm's proxy with one worker, without a database and without calls to other hosts."""
    listed = "".join(
        f"  - model_name: {name}\n    litellm_params: {{model: openai/{name}, api_base: {upstream}/v1, "
        "api_key: x}\n"
        for name in ("words-10", "words-100", "words-200")
    )
    config = folder / "litellm.yaml"
    config.write_text(
        f"model_list:\n{listed}general_settings: {{}}\nlitellm_settings: {{telemetry: false}}\n"
    )
    port = _free_port()
    program = Path(sys.executable).with_name("litellm")
    command = [str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    environment = {
        **_clean_environment(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
    }
    with _running([*command, "--num_workers", "1"], environment, folder / "litellm.log") as process:
        address = f"http://127.0.0.1:{port}"
        _wait_for(lambda: _is_alive(f"{address}/health/liveliness"), process, folder / "litellm.log")
        yield GatewayProcess(address, process.pid)


def _clean_environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "PYTHONUNBUFFERED": "1"}


@contextmanager
def _running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as written:
        process = subprocess.Popen(command, env=environment, stdout=written, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(found: Callable[[], str], process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and process.poll() is None:
        if address := found():
            return address
        time.sleep(0.1)
    raise RuntimeError(f"a gateway did not start:\n{log.read_text()[-2000:]}")


def _printed_address(log: Path) -> str:
    match = re.search(r"serving at (http://127\.0\.0\.1:\d+)", log.read_text())
    return match[1] if match else ""


def _is_alive(address: str) -> str:
    try:
        with urlopen(address, timeout=2) as reply:
            return address if reply.status == 200 else ""
    except OSError:
        return ""


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
