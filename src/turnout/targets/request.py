"""From a history to the request that one target accepts, at the cost of what is new.

A history keeps one view per target: the transcript as that target reads it and the encoder
that holds its bytes. To return to a target costs only the turns in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from ..declarations import specs_of
from ..errors import UsageError
from ..history.log import History
from ..model import Media, Message, Origin, Text, ToolSpec, UserTurn
from ..parameters import check_names
from ..plain import clean_text
from ..providers.models import OTHER_MEDIA
from ..rendering.policy import Reader
from ..rendering.report import Rendered
from ..rendering.transcript import Transcript
from ..wire.options import Options
from ..wire.protocol import Encoder
from ..wire.request import Setting, WireRequest
from ..wire.shared.added_fields import merge_fields, without_spelling
from ..wire.shared.body import encode
from ..wire.shared.offered_tools import are_same
from .answer_in_words import with_answer_in_words
from .family import ToolSelection, select_options, select_tools, with_extra_tools
from .refused_fields import without_refused_fields
from .source_names import with_source_names
from .target import Target
from .target import find_target as find

POLICIES = ("omit", "as_text")  # what becomes of other models' thinking


class TargetView:
    """One history as one target reads it, with the bytes that were encoded for it."""

    def __init__(
        self, history: History, target: Target, thinking: bool | None, policy: str, flat_through: str
    ) -> None:
        self.target = target
        self.thinking = thinking
        self.transcript = Transcript(history, reader(target, policy, flat_through))
        self._specs: Sequence[ToolSpec] = ()
        self._selection = ToolSelection(())
        self._start_encoder()

    @property
    def shows_images(self) -> bool:
        """Whether the request holds images, from the user or from a tool."""
        return self._sealed_images or any(map(_has_image, self.transcript.tail))

    def _start_encoder(self) -> None:
        self.generation = self.transcript.generation
        self._sealed_images = False
        target = self.target
        setting = Setting(origin=target.origin, facts=target.facts)
        make_encoder = target.protocol.encoder
        assert make_encoder is not None, f"bug: {target.origin} has a dialect of a protocol without requests"
        self.encoder: Encoder = make_encoder(target.dialect, setting, self.transcript.ids, self.thinking)
        self._fed = 0

    def select(self, specs: Sequence[ToolSpec]) -> ToolSelection:
        """The tools in the form that the target takes; the same objects as long as the tools are the same."""
        if not are_same(specs, self._specs):
            self._specs, self._selection = specs, select_tools(specs, self.target)
        return self._selection

    def update(self) -> None:
        self.transcript.update()
        if self.generation != self.transcript.generation:
            self._start_encoder()
        fresh = self.transcript.sealed[self._fed :]
        for message in fresh:
            self.encoder.feed(message)
        if self.target.provider.vision_header:  # only these providers need to know
            self._sealed_images = self._sealed_images or any(map(_has_image, fresh))
        self._fed = len(self.transcript.sealed)


def _has_image(message: Message) -> bool:
    held = [block for item in message.responses for block in item.outcome.content]
    shown = message.blocks if message.role == "user" else held
    return any(isinstance(block, Media) and block.mime.startswith("image/") for block in shown)


def reader(target: Target, policy: str = "omit", flat_through: str = "") -> Reader:
    """How this target reads."""
    if policy not in POLICIES:
        raise UsageError(f"foreign_thinking {policy!r} is not one of {', '.join(POLICIES)}")
    base = Reader.of(target.origin, target.dialect.id_format)
    links, opens = target.dialect.links, target.dialect.opens_web
    base = replace(base, links=links, opens_web=opens, images=target.provider.images)
    knows = target.facts.tools
    return replace(
        base, thinking=policy, media=_readable_media(target), knows_tools=knows, flat_through=flat_through
    )


def _readable_media(target: Target) -> tuple[str, ...]:
    seen = target.facts.media if target.facts.known else (*target.facts.media, *OTHER_MEDIA)
    narrowed = target.dialect.media
    kept = seen if narrowed is None else [kind for kind in seen if kind.startswith(narrowed)]
    return (*kept, *target.dialect.reads)


def view(
    history: History,
    place: Target,
    thinking: bool | None = None,
    policy: str = "omit",
    flat_through: str = "",
) -> TargetView:
    """The history's view for a target, brought up to date."""
    name = ("view", place.origin, thinking, policy, flat_through)
    kept = history.view(name, lambda: TargetView(history, place, thinking, policy, flat_through))
    kept.update()
    return kept


def transcript(
    history: History, target: str | Origin | Target, *, foreign_thinking: str = "omit"
) -> Rendered:
    """The history as a target should read it: every call has exactly one result, in its place.

    `foreign_thinking` is what becomes of other models' thinking: "omit", or "as_text".
    """
    _expect_history(history)
    place = reader(find(target), foreign_thinking)
    kept = history.view(("transcript", place), lambda: Transcript(history, place))
    return kept.update().snapshot()


def render(
    history: History,
    to: str | Origin | Target,
    *,
    tools: Iterable[Any] | None = None,
    system: str | None = None,
    base_url: str = "",
    project: str = "",
    user_prompt_id: str = "",
    flat_through: str = "",
    options: Options | Mapping[str, Any] | None = None,
    **asked: Any,
) -> WireRequest:
    """The request that `to` accepts for this history. Never writes to the history.

    What is asked for is given as keywords, or as `options` (those of `read_request`, say), or
    both: a keyword takes precedence.

    `project` and `user_prompt_id` are for Code Assist (`gemini@oauth`): whose account pays, and
    which prompt of the user a request belongs to.
    """
    _expect_history(history)
    place = find(to, base_url=base_url, project=project)
    check_names("render()", "option", asked, [*RENDER_PARAMETERS, *Options.__struct_fields__])
    wanted = without_spelling(Options.of(_merged_options(place, {**(options or {}), **asked})), asked)
    asking = _Asking(
        history,
        place,
        specs=history.tools if tools is None else specs_of(tools),
        system=history.system if system is None else clean_text(system),
        project=project,
        user_prompt_id=user_prompt_id,
        flat_through=flat_through,
        asked=asked,
    )
    return _accepted_request(asking, wanted)


class _Asking(Struct, frozen=True):
    """What one call of `render` asks for, but for the options: those may be corrected on the way."""

    history: History
    place: Target
    specs: Sequence[ToolSpec]
    system: str
    project: str
    user_prompt_id: str
    flat_through: str
    asked: Mapping[str, Any]


def _accepted_request(asking: _Asking, wanted: Options) -> WireRequest:
    """The request without the private fields that its own API would refuse; each is named in its changes."""
    request = _write_request(asking, wanted)
    if wanted.private is None:
        return request
    accepted, refused = without_refused_fields(wanted, request, asking.asked)
    if not refused:
        return request
    again = _accepted_request(asking, accepted)
    return replace(again, changes=(*refused, *again.changes))


def _write_request(asking: _Asking, inbound: Options) -> WireRequest:
    history, place, asked = asking.history, asking.place, asking.asked
    seen = view(history, place, inbound.thinking, inbound.foreign_thinking, asking.flat_through)
    selected = seen.select(with_extra_tools(asking.specs, inbound.extra, place))
    noted = [*selected.changes]
    wanted = select_options(inbound, selected, place, noted, forgives="tool_choice" not in asked)
    has_tools = bool(selected.tools)
    wanted, text = with_answer_in_words(wanted, asking.system, place, noted, has_tools=has_tools)
    body, changes = seen.encoder.body(seen.transcript.tail, text, selected.tools, wanted)
    changes += noted
    if wanted.chain and place.api != "responses":
        changes.append("chain left out: this API keeps no responses to continue from")
    if not place.facts.known:
        changes.append(f"model {place.model or '(none)'} is not in the table: the provider's defaults apply")
    prompt_id = asking.user_prompt_id or _prompt_id(history)
    return WireRequest(
        url=url(place, stream=bool(wanted.stream)),
        headers=_with_needed(_headers(place, seen), place, selected, wanted),
        body=_with_envelope(place, body, asking.project, prompt_id, changes),
        protocol=place.api,
        target=place.origin,
        source=seen.transcript.snapshot(),
        changes=tuple(with_source_names(changes, inbound, asked)),
        diagnostics=selected.diagnostics,
        tools=tuple(spec.name for spec in selected.tools if spec.is_function),
    )


RENDER_PARAMETERS = ("tools", "system", "base_url", "project", "user_prompt_id", "flat_through", "options")


def _expect_history(given: Any) -> None:
    if not isinstance(given, History):
        raise UsageError(f"{type(given).__name__} is not a history; make one with turnout.ingest(messages)")


def url(place: Target, *, stream: bool = False) -> str:
    """Where a request to this target goes, with the query that the target adds."""
    plain = _plain_url(place, stream)
    if not place.query:
        return plain
    return plain + ("&" if "?" in plain else "?") + urlencode(place.query)


def _plain_url(place: Target, stream: bool) -> str:
    if place.provider.path:
        path = place.provider.stream_path if stream and place.provider.stream_path else place.provider.path
        return place.provider.base_url + path.replace("{model}", place.model)
    in_path = not place.provider.envelope  # an envelope names the model, so the path does not
    return place.protocol.url(place.provider.base_url, place.model, stream=stream, names_model=in_path)


def _merged_options(place: Target, given: dict[str, Any]) -> dict[str, Any]:
    """The options of the target below those of the request; fields for the body are merged."""
    if not place.options:
        return given
    merged = {**place.options, **given}
    if "extra" in place.options and "extra" in given:
        merged["extra"] = merge_fields(place.options["extra"], given["extra"])
    return merged


def _headers(place: Target, seen: TargetView) -> dict[str, str]:
    headers = {"content-type": "application/json", **place.provider.headers, **place.headers}
    if place.provider.vision_header and seen.shows_images:
        headers[place.provider.vision_header] = "true"
    if place.provider.initiator_header:
        headers[place.provider.initiator_header] = "user" if _ends_with_user(seen.transcript) else "agent"
    return headers


def _ends_with_user(transcript: Transcript) -> bool:
    """Whether the last message with content is the user's: empty turns are not sent."""
    newest_first = chain(reversed(transcript.tail), reversed(transcript.sealed))
    spoken = (message for message in newest_first if message.role != "system" and _says_something(message))
    last = next(spoken, None)
    return last is None or last.role == "user"


def _says_something(message: Message) -> bool:
    return any(not isinstance(block, Text) or block.text.strip() for block in message.blocks)


def _with_needed(
    headers: dict[str, str], place: Target, selected: ToolSelection, asked: Options
) -> dict[str, str]:
    """The headers, with the values that the protocol wants for these tools and options."""
    if place.protocol.headers is None:
        return headers
    headers = {**headers}
    for name, wanted in place.protocol.headers(selected.tools, asked).items():
        known = [value for value in headers.get(name, "").split(",") if value]
        headers[name] = ",".join(dict.fromkeys([*known, *wanted.split(",")]))
    return headers


def _prompt_id(history: History) -> str:
    """Names the prompt that a request belongs to: the same for every request of one tool loop."""
    keys = (turn.key for turn in reversed(history.turns) if isinstance(turn, UserTurn))
    return next(keys, history.key)


def _with_envelope(place: Target, body: bytes, project: str, prompt_id: str, changes: list[str]) -> bytes:
    """Code Assist takes the request inside an envelope."""
    if place.provider.envelope != "code-assist":
        return body
    around = {"model": place.model, "project": project or place.provider.project, "user_prompt_id": prompt_id}
    if not around["project"]:
        del around["project"]
        changes.append("no project around the request: set GOOGLE_CLOUD_PROJECT or project= if it is refused")
    return encode(around)[:-1] + b',"request":' + body + b"}"
