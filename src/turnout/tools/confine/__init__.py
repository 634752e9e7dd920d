"""Where tools work, and what confines them: workspace, opened paths, sandbox, processes, addresses.

Touches the world. Others import `workspace`, `sandbox`, `process` and `output`. Imports `tools.declare` and
`tools.policy`.
"""
