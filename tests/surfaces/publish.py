"""Write the schemas of `docs/schemas` anew: python -m tests.surfaces.publish"""

from __future__ import annotations

import json

from tests.surfaces.test_oneshot import SCHEMAS

from turnout.surfaces.cli.result import Line, RunResult, schema

if __name__ == "__main__":
    for name, kind in (("run-result.json", RunResult), ("run-event.json", Line)):
        (SCHEMAS / name).write_text(json.dumps(schema(kind), indent=2) + "\n")
