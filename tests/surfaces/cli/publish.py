"""Write the schemas of `docs/schemas` anew: python -m tests.surfaces.cli.publish"""

from __future__ import annotations

import json

from tests.surfaces.cli.test_run import SCHEMAS

from turnout.surfaces.cli.run_result import Line, RunResult, schema

if __name__ == "__main__":
    for name, kind in (("run-result.json", RunResult), ("run-event.json", Line)):
        (SCHEMAS / name).write_text(json.dumps(schema(kind), indent=2) + "\n")
