"""The store in PostgreSQL, for several machines: connections, tables, log, catalogue, search, notifications.

Only `store` imports this, when an address asks for it: it needs `turnout[postgres]` (psycopg 3 and its pool).
Imports `store.ports` and the bottom.
"""
