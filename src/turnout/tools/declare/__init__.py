"""What a tool is: the `@tool` decorator, the schema of a function, the registry, arguments and results.

Everything else in `tools` imports this. Imports only the bottom.
"""
