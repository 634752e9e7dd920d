"""What every dialect tells, whatever its protocol. A protocol's own dialect adds its differences to this."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct, field

from ..hosted_tools import HostedForm


class Dialect(Struct, frozen=True, kw_only=True):
    """How a server differs from the plain form of its protocol."""

    api: ClassVar[str] = ""  # the protocol that it varies, by its name in `protocol.PROTOCOLS`
    counts_cached_apart: ClassVar[bool] = False  # its count of input leaves out what the cache gave

    id_format: str = "openai"
    links: str = ""  # pattern of the links that the provider opens by itself
    opens_web: bool = True  # links to media on the web
    media: tuple[str, ...] | None = None  # narrower than what the model could see
    reads: tuple[str, ...] = ()  # what the host reads for every model
    takes_search: bool = True  # `web_search_options` of a request that was written for this API
    hosted: tuple[HostedForm, ...] = ()  # the tools that the server runs itself, in its own form
    lacks: tuple[str, ...] = ()  # fields of its API's first provider that this one refuses
    extra_body: dict[str, Any] = field(default_factory=dict)
    model_facts: dict[str, Any] = field(default_factory=dict)  # what the host's version can do otherwise

    @property
    def forces_tools(self) -> bool:
        """Whether a request may force a call, as far as the server decides."""
        return True

    def has_tool(self, kind: str) -> bool:
        """Whether the server runs tools of this type itself, where no API claims the type."""
        return False

    def takes_declared(self, kind: str) -> bool:
        """Whether a tool of this type, declared for the same API elsewhere, can be sent here as it is."""
        return True

    def mixes_tools(self, *, signs: bool) -> bool:
        """Whether tools that the server runs may stand beside functions; `signs`: the model signs calls."""
        return True
