"""The store in one SQLite file: the connection, the schema with its migrations, the log.

Only `store` imports this. Imports `store.ports`, `world.places` and the bottom.
"""
