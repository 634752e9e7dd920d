"""Tools of MCP servers: read from the common configuration, trusted by content, used like built-in ones.

    servers = await mcp_tools(session.scheduler.registry, config, pins=..., environment=..., folder=...)

Nothing of a server counts before the user has seen it: its command is not started, and its
tools are not offered, until what they are is on record (`pin`). Whatever changes afterwards
takes the tools away until the user has seen the difference. The `mcp` package does the
protocol and is loaded with the first connection, not before.
"""
