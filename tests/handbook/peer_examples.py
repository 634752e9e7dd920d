"""Run the code of other libraries that the pages "coming from" show, against simulated providers.

    .venv-bench/bin/python -m tests.handbook.peer_examples

Needs the packages of `requirements/bench.txt`. Only loopback is contacted.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from turnout import forbid_requests
from turnout.simulate import Call, SimulatedRequest, Simulation
from turnout.simulate.server import running_server

PAGES = Path(__file__).parent.parent.parent / "docs" / "coming-from"
BLOCK = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
ADDRESSES = {
    "OPENAI_BASE_URL": "/v1",
    "OPENAI_API_BASE": "/v1",
    "ANTHROPIC_BASE_URL": "",
    "ANTHROPIC_API_BASE": "",
    "ANTHROPIC_API_URL": "",
}
SWITCHES = {"OPENAI_AGENTS_DISABLE_TRACING": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""What keeps these libraries from asking servers of their makers."""


def answer_peer(asked: SimulatedRequest) -> object:
    """One call of the tool where one is offered and no result is there yet, else a sentence."""
    wants_tool = asked.tools and not asked.results
    return [Call("weather", {"city": "Oslo"})] if wants_tool else "I hear you."


def main() -> int:
    """Run every block; the exit code says whether all of them ran."""
    forbid_requests()
    simulation = Simulation(answer_peer)
    with running_server(simulation) as address:
        os.environ.update({name: address + path for name, path in ADDRESSES.items()})
        os.environ.update(dict.fromkeys(KEYS, "sk-any") | SWITCHES)
        for page in sorted(PAGES.glob("*.md")):
            for code in BLOCK.findall(page.read_text()):
                exec(compile(code, page.name, "exec"), {"__name__": "__main__"})
            print(f"{page.name}: ran")
    for refused in simulation.refusals:
        print(f"refused: {refused.problems}")
    return 1 if simulation.refusals else 0


if __name__ == "__main__":
    sys.exit(main())
