"""The fields of a request's record that lists are filtered, grouped and summed by, as columns of its row.

The columns are computed from the record, so rows of older releases have them too. One index holds them
all in the order of a list: a page of it is read from its end, and a filter walks the index.
"""

from __future__ import annotations

import apsw

COLUMNS = {
    "status": "INTEGER",
    "repairs": "INTEGER",
    "target": "TEXT",
    "asked": "TEXT",
    "agent": "TEXT",
    "protocol": "TEXT",
    "conversation": "TEXT",
    "input": "INTEGER",
    "output": "INTEGER",
    "cached": "REAL",
    "first_byte": "REAL",
    "seconds": "REAL",
    "error": "TEXT",
    "stop": "TEXT",
    "steps": "TEXT",
}
INDEX = f"""
CREATE INDEX IF NOT EXISTS requests_listed
ON requests (began, number, id, client, cost, tokens, {", ".join(COLUMNS)});
CREATE INDEX IF NOT EXISTS requests_of_conversation ON requests (conversation, number);
"""


def add_request_columns(connection: apsw.Connection) -> None:
    """Add the columns that the table lacks, and the index."""
    known = {row[1] for row in connection.execute("PRAGMA table_xinfo(requests)")}
    for name, kind in COLUMNS.items():
        if name not in known:
            connection.execute(
                f"ALTER TABLE requests ADD COLUMN {name} {kind} "
                f"AS (json_extract(CAST(record AS TEXT), '$.{name}')) VIRTUAL"
            )
    for _ in connection.execute(INDEX):
        pass
