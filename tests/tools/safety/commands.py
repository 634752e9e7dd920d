"""Two lists of commands, as data: what must never run unasked, and what always may."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
HOSTILE = [json.loads(line) for line in (HERE / "hostile.jsonl").read_text().splitlines()]
EVERYDAY = (HERE / "everyday.txt").read_text().splitlines()
