"""What each API family reads and writes: one folder a protocol.

In each folder: `dialect` (how servers differ), `encoder` (history to request), `decoder` (reply to events),
`reply` (what a server answers), `protocol` (the value that names them all). Beside them: `protocol` finds a
protocol by name, `dialect` is the base of all dialects, `options` says what a request asks for in neutral
words, `shared/` is what several protocols need, `failure/` what errors mean, `check/` the rules of a strict
server.

Others import `protocol`, `request`, `options`, the dialects and `check`. Imports `rendering`, `streaming`,
`history`.
"""
