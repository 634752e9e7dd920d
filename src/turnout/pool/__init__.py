"""Many prompts over many targets, within limits that all their sessions share, resumable after a kill.

`Pool` is the door. `rate` is a pure machine; `results_file` touches the disk. Others import `Pool`,
`PoolItem`, `PoolResult`. Imports `session`, `targets`, `world`, `tools`, `providers`, `wire`.
"""
