"""The layers as data: what each folder may import, and what is pure. The test and the picture use it."""

from __future__ import annotations

MAY_IMPORT = {
    # Top to bottom. A folder may import itself, the folders on its line, and the modules of the bottom.
    "testing": "simulate world tools wire",
    "surfaces": "pool workers simulate session interchange telemetry store targets world tools providers "
    "wire rendering streaming history",
    "pool": "session targets world tools providers wire history",
    "workers": "session store history",
    "simulate": "world providers wire rendering streaming history",
    "session": "telemetry store targets world tools providers wire rendering streaming history",
    "interchange": "store targets world tools providers wire rendering streaming history",
    "telemetry": "world tools history",
    "store": "world providers history",
    "targets": "providers wire rendering streaming history",
    "world": "targets tools providers wire history",
    "tools": "history",
    "providers": "wire rendering history",
    "wire": "rendering streaming history",
    "rendering": "history",
    "streaming": "",
    "history": "",
}
BOTTOM = (
    *("declarations", "hosted_tools", "json_size", "ids", "model", "parameters", "plain", "errors"),
    *("diagnostic", "__version__"),
)
TOP = ("__init__", "__main__", "pytest_plugin", "lazy_names", "public")

WITHIN_SURFACES = {
    "cli": "pages gateway terminal shared",
    "pages": "gateway shared",
    "gateway": "shared",
    "terminal": "shared",
    "shared": "",
}

WITHIN_TOOLS = {
    "builtin": "confine policy declare",
    "mcp": "confine policy declare",
    "schedule": "confine policy declare",
    "confine": "policy declare",
    "policy": "declare",
    "declare": "",
}

WITHIN = {"surfaces": WITHIN_SURFACES, "tools": WITHIN_TOOLS}

IMPURE = (
    *("asyncio", "time", "random", "uuid", "datetime", "os", "socket", "subprocess", "threading", "tempfile"),
    *("secrets", "httpx2", "apsw", "psycopg"),
)
"""Modules whose answers differ between two runs, or that touch the world."""

PURE = (
    *("", "history", "rendering", "streaming", "wire", "providers", "targets"),
    *("tools/declare", "tools/policy", "tools/schedule"),
    *("session/routing.py", "session/retry.py", "session/guards.py", "session/recovery.py"),
)
IMPURE_FILES = {
    "tools/declare/context.py": "a running tool learns from an Event that it was cancelled",
    "tools/schedule/scheduler.py": "the driver: it owns the tasks of a batch",
    "tools/schedule/batch_run.py": "the driver of one batch, on asyncio",
    "tools/schedule/callbacks.py": "calls functions of the user in tasks, with time limits",
    "tools/schedule/progress.py": "a tool reports its progress from a thread, so a lock is held",
}
"""Files in pure folders that are not pure, each with the reason."""


def draw_layers() -> str:
    """The picture for the docs: each folder, what it may import, and which part of it is pure."""
    width = max(map(len, MAY_IMPORT)) + 2
    lines = []
    for name, below in MAY_IMPORT.items():
        mark = "pure" if name in PURE else "    "
        lines.append(f"{name:<{width}} {mark}  imports {', '.join(below.split()) or 'the bottom only'}")
    lines.append(f"{'the bottom':<{width}} pure  {', '.join(name for name in BOTTOM if name[0] != '_')}")
    for folder, rooms in WITHIN.items():
        lines += ["", f"within {folder}:"]
        for name, below in rooms.items():
            mark = "pure" if f"{folder}/{name}" in PURE else "    "
            lines.append(f"{name:<{width}} {mark}  imports {', '.join(below.split()) or 'nothing else'}")
    return "\n".join(lines)
