"""How the models behind Converse differ: what each maker's models take."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..dialect import Dialect


class ConverseDialect(Dialect, frozen=True, kw_only=True):
    """What the models of one maker take of Converse. The defaults are for unknown models."""

    api: ClassVar[str] = "converse"
    # `inputTokens` counts neither what was read from the cache nor what was written to it.
    counts_cached_apart: ClassVar[bool] = True

    id_format: str = "bedrock"
    opens_web: bool = False
    takes_system: bool = True
    choices: tuple[str, ...] = ("auto",)  # the kinds of `toolChoice`: auto, any, tool
    caching: tuple[str, ...] = ()  # where a cachePoint may stand: tools, system, messages
    ttls: tuple[str, ...] = ()  # how long a cache point may last; empty: only the usual time
    thinking: Literal["claude", "nova", "effort", ""] = ""  # how thinking is asked for
    returns_thinking: Literal["signed", "any", ""] = ""  # which reasoning goes back to the model
    top_k_field: str = ""  # where top_k stands in additionalModelRequestFields
    media_in_results: bool = False  # else media follows the results
    marks_failed_results: bool = False  # takes the `status` of a result
    takes_strict: bool = False  # strict tools, and a schema of the answer

    @property
    def forces_tools(self) -> bool:
        return "any" in self.choices or "tool" in self.choices
