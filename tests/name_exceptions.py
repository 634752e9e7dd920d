"""Names that break a rule of `test_names.py`, each with the reason."""

from __future__ import annotations

BARE_WORDS: dict[str, str] = {
    "standing": "`History.standing`: the entries that no rewind has undone; a public name of the log",
    "render": "`turnout.render`, a public name",
    "decode": "`turnout.decode`, a public name",
    "receive": "`turnout.receive`, a public name",
    "count": "`turnout.count`, a public name",
    "run": "`Session.run`, a public name, and the same of what it drives",
    "thinking": "a noun of the model: what a model thinks",
    "check": "`turnout.check`, a public name",
    "hosted": "`turnout.hosted`, a public name: a tool that is hosted",
    "mapping": "a noun: `mapping(value)` is the value if it is an object, as `array` and `text` are",
    "cancel": "`turnout.workers.cancel`, a public name",
    "wait": "`turnout.workers.wait`, a public name",
    "done": "`ReplyBuilder.done` gives the event `Done`, as `fail` gives `Error`; a public name",
}
SHARED_FUNCTIONS: dict[str, str] = {
    "system_field": "the same for each format, in `history/ingest`, side by side",
    "_add_message": "the same for each program, in `interchange/foreign`, side by side",
    "usage_counts": "the same for each protocol, in `wire/*/reply`, side by side",
    "main": "each file with it runs as a separate program",
    "read_options": "the same for each API, in `targets/inbound`, side by side",
    "_answer_options": "the same for each API, in `targets/inbound`, side by side",
    "_choice_options": "the same for each API, in `targets/inbound`, side by side",
    "whole": "the reply encoder of each protocol, in `wire/<protocol>/reply.py`, side by side",
    "_usage_counts": "the reply encoder of each protocol, in `wire/<protocol>/reply.py`, side by side",
    "violations": "the same for history, transcript and each API: what breaks the rules of one checker",
    "violations_in": "the checker of each protocol, in `wire/<protocol>/protocol.py`, side by side",
    "stream": "`turnout.stream`, a public name, and the reply encoder of each protocol",
}
