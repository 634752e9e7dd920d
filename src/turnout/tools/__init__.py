"""Tools: what they are, when they may run, and the scheduler that runs a turn's calls as one batch.

`declare/`, `policy/` and the machine of `schedule/` are pure. `confine/`, `builtin/` and `mcp/` touch the
world. Imports only `history` and the bottom, so that scheduling cannot depend on a provider.
"""
