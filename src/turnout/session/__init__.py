"""One conversation with targets, tools and limits: from `Session.run` to the last event.

Read downwards: `session` (what users hold), `run`, `rounds` (requests and tools in turn), `exchange` (one
reply, with recovery), `attempt` (one request on the wire). `routing`, `retry`, `guards` and `recovery` are
pure.

Others import `Session` and its events. Imports everything below but `surfaces`, `simulate`, `interchange`.
"""
