"""Tools of MCP servers: read from the common configuration, trusted by content, used like built-in ones.

    servers = await mcp_tools(session.scheduler.registry, config, pins=..., environment=..., folder=...)

The user decides about each server first: its command is not started, and its tools are not offered,
before the user has agreed and that is saved (`pins`). If anything changes afterwards, the tools are
removed until the user has seen the difference. The `mcp` package speaks the protocol and is loaded
with the first connection. Others import `servers` and `config`. Imports `tools.declare`,
`tools.policy` and `tools.confine`.
"""
