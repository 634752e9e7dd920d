"""A turn's calls as one batch: admission, order, limits, cancellation.

`admission`, `batch` and `outcomes` are a pure machine that is fed and asked. `scheduler` and `batch_run`
drive it on asyncio; `callbacks` calls the user's functions. Others import `ToolScheduler`. Imports
`tools.declare`, `tools.policy`, `tools.confine` and `history`.
"""
