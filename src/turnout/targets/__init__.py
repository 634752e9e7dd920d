"""Targets, and what is behind `turnout.render`, `decode`, `stream`, `read_request` and `diagnose`.

`target` finds a target by its name, `request` renders a history for it, `reply` reads its answer,
`inbound/` reads a request that a client wrote. Pure: values in, values out.

Others import `target`, `request`, `reply`. Imports `providers`, `wire`, `rendering`, `streaming`, `history`.
"""
