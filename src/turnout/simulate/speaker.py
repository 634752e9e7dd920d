"""The author of a reply: one model of one provider, with its ids and signatures."""

from __future__ import annotations

from msgspec import Struct

from ..model import Usage
from ..wire.check.models import family
from ..wire.shared.reply import ALNUM, DIGITS, HEX, LOWER, ReplyParts
from .provider_ids import Mint, Seal


class Speaker(Struct, frozen=True):
    """A model of a provider, and the form of answer that the request asked for."""

    provider: str
    model: str
    mint: Mint
    seal: Seal
    usage: bool = True  # the request wants token counts in the stream
    wants_encrypted: bool = True  # the request wants encrypted reasoning
    called: int = 0  # calls in the conversation so far: Kimi counts them
    prompt_tokens: int = 0

    @property
    def family(self) -> str:
        """The family of the model by its name; hosts serve models of others."""
        return family(self.model)

    def draw(self, prefix: str, length: int, letters: str = ALNUM) -> str:
        """A fresh id: the prefix and that many letters."""
        return self.mint.draw(prefix, length, letters)

    def sign(self, style: str, content: str) -> str:
        """A seal that this provider will recognise."""
        self.mint.count += 1
        return self.seal.sign(style, self.model, content, self.mint.count)

    def call_id(self, name: str, place: int, given: str = "") -> str:
        """The id of a call in the style of this provider."""
        if given:
            return given
        style = self.provider
        if style in GATEWAYS:
            style = STYLE_OF_FAMILY.get(self.family, "openai")
        draw = self.draw
        match style:
            case "anthropic":
                return draw("toolu_01", 22)
            case "bedrock":
                return draw("tooluse_", 22)
            case "mistral":
                return draw("", 9)
            case "kimi":
                return f"functions.{name}:{self.called + place}"
            case "deepseek":
                return draw(f"call_{place:02}_", 20)
            case "xai":
                return draw("call_", 8, DIGITS)
            case "qwen":
                return draw("call_", 24, HEX)
            case "ollama":
                return draw("call_", 8, LOWER)
            case "vllm":
                return draw("chatcmpl-tool-", 32, HEX)
            case "llamacpp":
                return draw("", 32)
            case "gemini" | "vertex":
                return draw("", 8, LOWER) if self.signs_calls else ""
            case _:
                return draw("call_", 24)

    @property
    def signs_calls(self) -> bool:
        """Gemini 3 signs every step, and gives its calls ids."""
        return "gemini-2" not in self.model and "gemini-1" not in self.model

    def count_tokens(self, reply: ReplyParts) -> Usage:
        """The token counts of the script, or one token for four letters."""
        if reply.usage is not None:
            return reply.usage
        thought = len(reply.thinking) // 4
        said = sum(len(str(call.arguments)) + len(call.name) for call in reply.calls) + len(reply.text)
        output = max(1, said // 4) + thought
        total = self.prompt_tokens + output
        return Usage(self.prompt_tokens, output, total, 0, None, thought)


GATEWAYS = ("openrouter", "copilot", "groq", "together", "fireworks", "cerebras", "compatible", "lmstudio")
"""Hosts that pass on the ids of the upstream provider."""

STYLE_OF_FAMILY = {"claude": "anthropic", "kimi": "kimi", "mistral": "mistral", "deepseek": "deepseek"}
