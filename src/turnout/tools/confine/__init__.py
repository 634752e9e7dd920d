"""Where tools work, and what holds them there: workspace, opened paths, sandbox, processes, addresses.

Touches the world. Others import `workspace`, `sandbox`, `process` and `output`. Imports `tools.declare` and
`tools.policy`.
"""
