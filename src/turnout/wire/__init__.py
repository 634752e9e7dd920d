"""What each API family reads and writes: one folder a protocol, two machines in each.

An encoder is fed messages and keeps their bytes; a decoder is fed payloads and gives events. `protocol`
holds the value that names both, `options` what a request asks for in neutral words, `shared/` what
several protocols need, `failure/` what errors mean, `check/` the rules of a strict server.

Others import `protocol`, `options`, the dialects and `check`. Imports `rendering`, `streaming`, `history`.
"""
