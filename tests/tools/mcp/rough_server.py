"""A server written by hand, to do what the official package never would. Starts in a blink.

    python rough_server.py FOLDER

What it offers is read from FOLDER/tools.json each time it is asked, so that a test can change
it; every line that it was sent is kept in FOLDER/heard. A call is answered by the tool's name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

FOLDER = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
VERSION = "2025-11-25"


def main() -> None:
    keep("starts", str(os.getpid()))
    while stand("slow"):
        time.sleep(0.02)
    if stand("refuses"):
        sys.exit("there is no licence for this machine")
    if stand("silent"):
        time.sleep(1000)
    if stand("noisy"):
        print("Welcome to the server!\n\x00\xff not json", flush=True)
        sys.stderr.write("\x1b[31mwarning\x1b[0m: " + "x" * 1_000_000 + "\nlast words\n")
    for line in sys.stdin:
        keep("heard", line.strip())
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer(message["id"], message["method"], message.get("params") or {})


def stand(name: str) -> bool:
    return os.path.exists(f"{FOLDER}/{name}")


def keep(name: str, text: str) -> None:
    with open(f"{FOLDER}/{name}", "a") as file:
        file.write(text + "\n")


def answer(number: int, method: str, params: dict[str, Any]) -> None:
    if method == "initialize":
        info = {"name": "rough", "version": "1"}
        able = {"tools": {"listChanged": True}}
        reply(number, {"protocolVersion": VERSION, "capabilities": able, "serverInfo": info})
    elif method == "tools/list":
        reply(number, listing(params))
        if stand("restless"):
            send({"method": "notifications/tools/list_changed"})
    elif method == "tools/call":
        call(number, params["name"], params.get("arguments") or {}, params.get("_meta") or {})
    else:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def listing(params: dict[str, Any]) -> dict[str, Any]:
    if stand("endless"):
        page = int(params.get("cursor") or 0)
        return {"tools": [{"name": f"t{page}", "inputSchema": SCHEMA}], "nextCursor": str(page + 1)}
    with open(f"{FOLDER}/tools.json") as file:
        return {"tools": json.load(file)}


def call(number: int, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    if name == "echo":
        reply(number, said(arguments.get("text", "")))
    elif name == "environment":
        reply(number, said(json.dumps(dict(os.environ))))
    elif name == "where":
        reply(number, said(os.getcwd()))
    elif name == "progress":
        for step in range(1, 4):
            told = {
                "progressToken": meta["progressToken"],
                "progress": step,
                "total": 4,
                "message": f"step {step}",
            }
            send({"method": "notifications/progress", "params": told})
        reply(number, said("done"))
    elif name == "hang":
        return
    elif name == "crash":
        os._exit(3)
    elif name == "huge":
        reply(number, said("x" * int(arguments["text"])))
    elif name == "odd":
        send({"id": number, "result": {"content": "nonsense", "isError": "maybe"}})
    elif name in ("raw", "raw_backwards"):  # whatever lies in a file, as structured content
        with open(f"{FOLDER}/raw") as file:
            result = f'"result": {{"content": [], "structuredContent": {{"n": {file.read()}}}}}'
        parts = ['"jsonrpc": "2.0"', f'"id": {number}', result]
        write("{" + ", ".join(parts if name == "raw" else parts[::-1]) + "}")
    elif name == "lie":
        reply(number, {**said("2"), "structuredContent": {"n": "two"}})
    elif name == "children":
        program = "import time; time.sleep(1000)"
        words = [sys.executable, "-I", "-S", "-c", program]
        subprocess.Popen([*words, "group"])
        subprocess.Popen([*words, "session"], start_new_session=True)
        reply(number, said("two children"))
    elif name == "change":
        os.replace(f"{FOLDER}/next.json", f"{FOLDER}/tools.json")
        send({"method": "notifications/tools/list_changed"})
        reply(number, said("changed"))
    elif name == "flood":
        for _ in range(1000):
            send({"method": "notifications/tools/list_changed"})
        reply(number, said("flooded"))
    else:
        send({"id": number, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})


def said(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def reply(number: int, result: dict[str, Any]) -> None:
    send({"id": number, "result": result})


def send(message: dict[str, Any]) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}))


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
