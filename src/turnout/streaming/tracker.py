"""Build whole tool calls from fragments, whatever key a provider gives them.

There are two ways in. Where a protocol has a reliable key (a block index, an output index,
an item id), a decoder uses `start_call`, `append_args` and `complete_call` with it. Chat
fragments have no reliable key. There `fragment` decides which call a fragment belongs to,
and holds back the start until the name must be complete.

Calls are announced once each, in the order in which they appeared. Arguments are parsed
once, when the call is complete. A call that is never completed is not in the reply.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from sys import intern
from typing import Any, TypeAlias

from .. import ids
from ..diagnostic import Diagnostic
from ..json_size import KEPT, LONGEST, excerpt
from ..model import Origin, Residue, Scope, ToolCall, call_with_arguments
from ..plain import arguments, clean_text, dumps
from .events import StreamEvent, ToolCallComplete, ToolCallDelta, ToolCallStart

Events: TypeAlias = Sequence[StreamEvent]

NOTHING: Events = ()
NO_ID = ("null", "None")  # some servers write this in place of an id (older Mistral models)
MAX_NOTES = 100
CHECKS = 8  # how often the text of one call may be parsed before its end, because its fragments are odd


class _Call:
    """A call as far as it is known. It is announced once `id` is set."""

    __slots__ = (
        "before",
        "checks",
        "done",
        "fault",
        "id",
        "key",
        "made",
        "name",
        "pieces",
        "preview",
        "raw_id",
        "repeated",
        "residue",
        "sure",
    )

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.id = ""
        self.raw_id = ""
        self.name = ""
        self.sure = False  # the name is whole
        self.pieces: list[str] = []
        self.preview: Any = None  # arguments named at the start; they count if no others come
        self.done = False
        self.fault = ""
        self.before: _Call | None = None  # gets the arguments if this turns out not to be a call
        self.checks = 0
        self.repeated = False  # named once more after its arguments were whole: another may begin
        self.residue: Residue | None = None
        self.made: ToolCall | None = None

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class ToolCallTracker:
    """Collect the calls of one reply. Every method returns the events to pass on."""

    def __init__(self, provider: str, turn_key: str) -> None:
        self._provider = provider
        self._turn_key = turn_key
        self._calls: list[_Call] = []  # in order of appearance
        self._announced = 0  # how many of them need no more announcing
        self._given = 0  # how many were given an id
        self._open: dict[_Call, None] = {}
        self._by_key: dict[Hashable, _Call] = {}
        self._by_raw_id: dict[str, _Call] = {}
        self._notes: dict[tuple[str, _Call], str] = {}
        self._last: _Call | None = None  # where the last fragment went

    @property
    def notes(self) -> list[Diagnostic]:
        """What was odd about the fragments, and how it was resolved."""
        return [Diagnostic("wire", code, call.id, text) for (code, call), text in self._notes.items()]

    # -- with a reliable key

    def start_call(
        self,
        key: Hashable,
        raw_id: str = "",
        name: str = "",
        *,
        arguments: Any = None,
        alias: Hashable = None,
    ) -> Events:
        """A call begins under this key, or its id or name is known now.

        `arguments` are those that the start already holds. They count if no others follow
        (Anthropic always writes an empty object there). `alias` is a second key.
        """
        call = self._find_call(key, alias)
        if call is None or _names_another(call, raw_id, name):
            call = self._add_call(key)
        if alias is not None:
            self._by_key.setdefault(alias, call)
        self._learn_id(call, raw_id)
        call.name = call.name or name
        call.sure = bool(call.name)
        if arguments:
            call.preview = arguments
        return self._announce_calls()

    def append_args(self, key: Hashable, delta: str, alias: Hashable = None) -> Events:
        """A piece of the arguments of the call under this key, which may not have started yet."""
        if not delta or type(delta) is not str:
            return self.set_args(key, delta, alias)
        call = self._by_key.get(key)
        if call is not None and call.id and not call.done:
            call.pieces.append(delta)
            return (ToolCallDelta(call.id, delta),)
        return self._extend_args(self._find_call(key, alias) or self._add_call(key), delta)

    def set_args(self, key: Hashable, arguments: Any, alias: Hashable = None) -> Events:
        """All of the arguments at once, as text or object; what already came is not repeated."""
        if not _args_text(arguments).strip():
            return NOTHING
        return self._replace_args(self._find_call(key, alias) or self._add_call(key), arguments)

    def complete_call(
        self,
        key: Hashable,
        raw_id: str = "",
        name: str = "",
        *,
        arguments: Any = None,
        alias: Hashable = None,
    ) -> Events:
        """The call under this key is complete. The values given here replace earlier ones."""
        events: Events = NOTHING
        if raw_id or name:
            events = self.start_call(key, raw_id, name, alias=alias)
        call = self._find_call(key, alias)
        if call is None:
            return events
        return (*events, *self._replace_args(call, arguments), *self._complete(call))

    def whole_call(
        self, raw_id: str, name: str, arguments: Any, key: Hashable = None, residue: Residue | None = None
    ) -> Events:
        """A call that came in one piece. The same id with the same content is not a second call."""
        known = self._by_raw_id.get(raw_id) if raw_id else None
        if known is not None and known.name == name and known.text == _args_text(arguments):
            return NOTHING
        key = object() if key is None else key
        events = self.start_call(key, raw_id, name)
        if residue is not None:
            self.mark_call(key, residue.origin, residue.data, residue.scope)
        return (*events, *self.complete_call(key, arguments=arguments))

    def mark_call(self, key: Hashable, origin: Origin, data: dict[str, Any], scope: Scope) -> None:
        """Residue for the call under this key. The narrowest scope that was given counts."""
        call = self._known_call(key)
        if call is None:
            return
        known = call.residue
        narrow = scope if known is None or known.scope == scope else "model"
        call.residue = Residue(origin, {**(known.data if known is not None else {}), **data}, narrow)
        call.made = None

    def id_of(self, key: Hashable) -> str:
        """The canonical id of the call under this key or raw id, "" while it has none.

        What `last_call` gave is a key too.
        """
        call = self._known_call(key)
        return call.id if call is not None else ""

    def _known_call(self, key: Hashable) -> _Call | None:
        return key if isinstance(key, _Call) else self._by_key.get(key) or self._by_raw_id.get(key)  # type: ignore[call-overload]

    @property
    def last_call(self) -> Hashable:
        """The call that the last fragment went to. Ids and indexes may be shared; this is not."""
        return self._last

    # -- without a reliable key

    def fragment(
        self,
        index: int | str | None,
        raw_id: str | None = None,
        name: str | None = None,
        arguments: Any = None,
        position: int = 0,
    ) -> Events:
        """One entry of `tool_calls` in a Chat delta; `position` is its place in that list."""
        if not raw_id and not name and type(index) is int:
            call = self._by_key.get(index)
            if (
                call is not None
                and call.id
                and not call.done
                and not call.repeated
                and type(arguments) is str
                and arguments
            ):
                self._last = call
                call.pieces.append(arguments)
                return (ToolCallDelta(call.id, arguments),)
        index = index if isinstance(index, int | str) else None
        raw_id = raw_id if isinstance(raw_id, str) and raw_id not in NO_ID else ""
        name = name if isinstance(name, str) else ""
        self._last = call = self._owner(index, raw_id, name, arguments, position)
        if call.done or (name and _is_sent_again(call, name, arguments)):
            return NOTHING
        if name and arguments in (None, "") and call.pieces and name == call.name:
            call.repeated = call.repeated or self._is_whole_before(call, "{")
        elif call.repeated and not name and arguments:
            self._last = call = self._successor(call, arguments)
        self._learn_id(call, raw_id)
        self._learn_name(call, name)
        if isinstance(arguments, str):
            return self._extend_args(call, arguments)
        return self._replace_args(call, arguments)

    def _owner(self, index: Hashable, raw_id: str, name: str, arguments: Any, position: int) -> _Call:
        """The call a fragment belongs to: by its id if known, else its index, else the latest."""
        known = self._by_raw_id.get(raw_id) if raw_id else None
        here = self._by_key.get(index) if index is not None else self._latest()
        if known is not None and isinstance(index, int) and isinstance(known.key, int) and index != known.key:
            known = self._call_that_shares_id(known, here, name)
        if known is not None:
            reused = self._is_second_use(known, here if index is not None else known, name, arguments)
            return self._add_call(index) if reused else known
        if here is None:
            return self._add_call(index) if raw_id or name else self._owner_of_stray_args(index, arguments)
        if raw_id:
            return self._under_new_id(here, index, raw_id, name, arguments)
        if name and ((index is None and position > 0) or self._begins_anew(here, name, arguments)):
            return self._add_call(index)
        if here.before is not None and not name and not here.name and arguments:
            return self._withdraw_call(here)
        return here

    def _call_that_shares_id(self, known: _Call, here: _Call | None, name: str) -> _Call | None:
        """The owner of a fragment with a known id, at another index than the call of that id.

        Some servers derive ids from tool names, so two calls may share one id: then the index
        decides. Other servers count indexes wrongly: then the id decides. A name begins a call.
        """
        if here is not None and here.raw_id in ("", known.raw_id):
            return here
        return None if here is None and name and not known.done else known

    def _successor(self, call: _Call, arguments: Any) -> _Call:
        """Whose arguments follow a call that was whole when its name came again.

        Some servers only repeat the name at the end; others begin a second call that way, at
        the same index and under the same id. Only a second call has a second object.
        """
        text = _args_text(arguments).lstrip()
        call.repeated = not text
        if not text.startswith("{"):
            return call
        after = self._add_call(call.key)
        self._learn_id(after, call.raw_id)
        after.name = call.name
        return after

    def _latest(self) -> _Call | None:
        return self._calls[-1] if self._calls else None

    def _is_second_use(self, known: _Call, here: _Call | None, name: str, arguments: Any) -> bool:
        """Whether a known id names a second call (some servers derive ids from tool names)."""
        if known.done or not name or not known.pieces:
            return False
        if known.name and name != known.name:
            return True
        if not self._is_whole_before(known, arguments):
            return False
        return here is not known or known.text != _args_text(arguments)

    def _begins_anew(self, call: _Call, name: str, arguments: Any) -> bool:
        """Whether a name after the arguments have begun is a new call and not a repeat."""
        if not call.pieces or not call.name:
            return False
        return name != call.name or (not call.done and self._is_whole_before(call, arguments))

    def _is_whole_before(self, call: _Call, arguments: Any) -> bool:
        """Whether the call's text is an object already, and `arguments` begins another.

        Asked only when a fragment contradicts itself, at most CHECKS times for one call.
        """
        text = _args_text(arguments)
        if not text.lstrip().startswith("{") or not call.pieces[-1].rstrip().endswith("}"):
            return False
        call.checks += 1
        return call.checks <= CHECKS and not _parse_args(call.text)[1]

    def _under_new_id(self, here: _Call, index: Hashable, raw_id: str, name: str, arguments: Any) -> _Call:
        """A new id at a known index: most often a new call (Ollama sends index 0 for all)."""
        if here.done or (index is None and (name or here.raw_id)):
            return self._add_call(index)
        if not here.raw_id:
            return self._add_call(index) if name and self._begins_anew(here, name, arguments) else here
        if name:
            return self._add_call(index)
        if not (here.pieces or here.id or arguments):
            here.raw_id += raw_id  # the id came in two pieces
            self._by_raw_id[here.raw_id] = here
            return here
        if arguments:
            self._add_note("changed_id", here, raw_id)
            self._by_raw_id[raw_id] = here
            return here
        call = self._add_call(index)  # a new call whose name follows, or only a new id: arguments will tell
        call.before = here
        return call

    def _withdraw_call(self, call: _Call) -> _Call:
        """No name came, so this is not a new call. Its arguments continue the call before."""
        before = call.before
        assert before is not None
        self._drop_call(call)
        self._by_key[call.key] = before
        self._by_raw_id[call.raw_id] = before
        self._add_note("changed_id", before, call.raw_id)
        return before

    def _owner_of_stray_args(self, index: Hashable, arguments: Any) -> _Call:
        """Arguments at an unknown index, without id or name (Nebius, Cerebras)."""
        if len(self._open) == 1:
            (sole,) = self._open
            if not (sole.pieces and self._is_whole_before(sole, arguments)):
                self._add_note("misplaced_arguments", sole)
                return sole
        return self._add_call(index)

    # -- the end

    def complete_all(self, cut: bool = False) -> Events:
        """The reply ended as it should, so every call in it is whole.

        With `cut` the reply ended at its token limit: a last call without arguments lost them.
        """
        orphans = [call for call in self._open if not call.name]
        lost = any(call.text for call in orphans)
        for call in orphans:
            self._drop_call(call)
            if call.text:
                self._add_note("nameless_call", call, call.text)
        events: list[StreamEvent] = []
        for call in list(self._open):
            if lost and not call.text.strip():
                call.fault = "ambiguous"  # its arguments may be those that lost their call
                self._add_note("ambiguous_arguments", call)
            elif cut and call is self._calls[-1] and not call.text.strip():
                call.fault = "truncated"
            events += self._complete(call)
        return events

    def whole_calls(self) -> list[ToolCall]:
        """The calls that are whole, in the order in which they appeared."""
        return [_tool_call_of(call) for call in self._calls if call.done and call.id]

    # -- one call

    def _find_call(self, key: Hashable, alias: Hashable) -> _Call | None:
        call = self._by_key.get(key)
        return self._by_key.get(alias) if call is None and alias is not None else call

    def _add_call(self, key: Hashable) -> _Call:
        call = _Call(key)
        self._calls.append(call)
        self._open[call] = None
        if key is not None:
            self._by_key[key] = call
        return call

    def _drop_call(self, call: _Call) -> None:
        self._open.pop(call, None)
        call.done = True

    def _learn_id(self, call: _Call, raw_id: str) -> None:
        if raw_id and not call.raw_id:
            call.raw_id = raw_id
            self._by_raw_id[raw_id] = call

    def _learn_name(self, call: _Call, name: str) -> None:
        """Names may come in pieces until arguments begin; an equal repeat is not a piece."""
        if not name or name == call.name or call.id:
            return
        call.name = name if call.pieces else call.name + name

    def _extend_args(self, call: _Call, delta: str) -> Events:
        if call.done:
            return NOTHING
        if delta:
            call.pieces.append(delta)
        sent = (ToolCallDelta(call.id, delta),) if call.id and delta else NOTHING
        return (*sent, *self._announce_calls())

    def _replace_args(self, call: _Call, arguments: Any) -> Events:
        text = _args_text(arguments)
        if not text.strip():
            return self._announce_calls()
        before = call.text
        if text.startswith(before) and not call.done:
            return self._extend_args(call, text[len(before) :])
        call.checks += 1
        if call.checks > CHECKS or _parse_args(text) != _parse_args(before):
            call.pieces = [text]
            call.made = None
            self._add_note("replaced_arguments", call, before)
        return self._announce_calls()

    def _complete(self, call: _Call) -> Events:
        if call.done:
            return NOTHING
        if not call.name:
            self._drop_call(call)
            self._add_note("nameless_call", call, call.text)
            return self._announce_calls()
        last = self._replace_args(call, call.preview) if not call.pieces else NOTHING
        self._drop_call(call)
        finished = (ToolCallComplete(call.id, call.residue),) if call.id else NOTHING
        return (*last, *finished, *self._announce_calls())

    def _announce_calls(self) -> Events:
        """The starts that were held back, in order, each with its arguments so far."""
        if self._announced == len(self._calls):
            return NOTHING
        events: list[StreamEvent] = []
        while self._announced < len(self._calls):
            call = self._calls[self._announced]
            if (call.name and not self._may_be_announced(call)) or (not call.name and not call.done):
                break
            self._announced += 1
            if call.name:
                events += self._announcement(call)
        return events

    def _may_be_announced(self, call: _Call) -> bool:
        """Whether the name must be complete by now."""
        return call.sure or bool(call.pieces) or call.done or call is not self._calls[-1]

    def _announcement(self, call: _Call) -> Events:
        call.id = ids.call_id(self._provider, call.raw_id, call.name, self._turn_key, self._given)
        self._given += 1
        start = ToolCallStart(call.id, call.name)
        text = (ToolCallDelta(call.id, call.text),) if call.pieces else NOTHING
        end = (ToolCallComplete(call.id, call.residue),) if call.done else NOTHING
        return (start, *text, *end)

    def _add_note(self, code: str, call: _Call, detail: str = "") -> None:
        if len(self._notes) < MAX_NOTES:
            self._notes.setdefault((code, call), clean_text(detail[:200]))


def _names_another(call: _Call, raw_id: str, name: str) -> bool:
    """Whether id or name contradict the call that stands under the same key."""
    other_id = raw_id and call.raw_id and raw_id != call.raw_id
    return bool(other_id or (name and call.name and name != call.name))


def _is_sent_again(call: _Call, name: str, arguments: Any) -> bool:
    """Whether a fragment is the whole call once more, and not a piece of it."""
    if not isinstance(arguments, str) or not call.pieces or name != call.name:
        return False
    if not arguments.startswith("{") or not call.pieces[-1].endswith("}"):
        return False
    if len(call.pieces) > 1:  # putting them together costs their length
        call.checks += 1
        if call.checks > CHECKS:
            return False
    return arguments == call.text and not _parse_args(arguments)[1]


def _args_text(value: Any) -> str:
    """Arguments as the text that a model would have written; "" for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps(value)


def _parse_args(text: str) -> tuple[dict[str, Any], str]:
    """Arguments from text. `null` is how some models call a tool that takes none."""
    return ({}, "") if text.strip() == "null" else arguments(text, LONGEST)


def _tool_call_of(call: _Call) -> ToolCall:
    if call.made is None:
        text = clean_text(call.text)
        values, fault = _parse_args(text)
        kept = text if len(text) <= KEPT else excerpt(text)
        # A name is one of a few, and stands in every call.
        named = {"id": call.id, "name": intern(call.name), "raw_id": call.raw_id}
        more = {"raw": kept, "fault": call.fault or fault, "residue": call.residue}
        call.made = call_with_arguments(values, **named, **more)
    return call.made
