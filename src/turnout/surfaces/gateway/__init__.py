"""The gateway: any client of four APIs, any provider. `turnout serve` and `turnout launch` start it.

    http_connection   bytes of HTTP to a `Request`, a `Response` to bytes: the only file with sockets
    values            `Request` and `Response`
    guard, routes     who may ask, and what for; pure
    gateway           one request from its checks to its record
    reply             one conversation request: read, ask, encode
    sealing, issued   our state in the fields that clients send back
    memory            what clients cannot carry, and one row a request: a bounded SQLite file
    names, access     models by name; keys, budgets and rates
    record, metrics   what is said about a request
    request_columns   what lists of requests are filtered and summed by

A handler takes a `Request` and gives back a `Response`, whose body is bytes or an async iterator
of bytes. Other parts add routes below the gateway's address: `Gateway.add_route("GET", "/sessions",
handler)` for one path, or `Gateway.add_route("GET", "/sessions/*", handler)` for all paths below.
Every check (Host, Origin, token, limits) was made before a handler is called. `sign_in=handler` may let a
browser in by a cookie: it gets the `Request` and says whether it is signed in.
"""
