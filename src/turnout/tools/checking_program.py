"""The process in which arguments are checked that might take long, so that it can be ended.

This file is run as a program of its own. On its input it gets a JSON object: `schema`, `value`,
and `backtracks`. It answers with `valid` and, for the first thing that does not fit, with `path`
and `said`.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from typing import Any

import jsonschema_rs

LONGEST = 10  # seconds that this process may live, should whoever asked be gone
MEMORY = 1 << 30


def main() -> None:
    signal.alarm(LONGEST)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    asked = json.load(sys.stdin.buffer)
    json.dump(answer(**asked), sys.stdout)


def answer(schema: Any, value: Any, backtracks: bool) -> dict[str, Any]:
    linear, trying = jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=1_000_000)
    check = jsonschema_rs.validator_for(schema, pattern_options=trying if backtracks else linear)
    if check.is_valid(value):
        return {"valid": True, "path": [], "said": ""}
    # The short form: the long one reports on every alternative of every value, which takes ten times as long.
    error = min(check.evaluate(value).errors(), key=lambda each: each["instanceLocation"].count("/"))
    path = [_step(part) for part in error["instanceLocation"].split("/")[1:]]
    return {"valid": False, "path": path, "said": error["schemaLocation"].rpartition("/")[2]}


def _step(part: str) -> str | int:
    return int(part) if part.isdigit() else part.replace("~1", "/").replace("~0", "~")


if __name__ == "__main__":
    main()
