"""The text of a web page as a model should read it: headings, lists, links, code, tables.

It is read in one pass without backtracking, so that the cost grows only with the length of the
page. What a person would not see is left out: scripts, styles, and elements with hidden text, where
pages put instructions to models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import urljoin

_SKIPPED = frozenset(
    ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "select", "math")
)
_RAW = frozenset(("script", "style", "textarea", "title"))  # their content holds no tags
_VOID = frozenset(
    ("br", "hr", "img", "input", "meta", "link", "source", "wbr", "area", "col", "embed", "base")
)
_BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "table"),
        *("blockquote", "form", "figure", "figcaption", "dl", "dt", "dd", "details", "summary", "hr", "body"),
    )
)
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
_ATTRIBUTE = re.compile(r"([a-zA-Z-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_HIDING = re.compile(r"display:none|visibility:hidden|font-size:0|opacity:0(?![.\d])|left:-\d{4}")
_DEEPEST = 500


def title_and_text(html: str, base: str = "") -> tuple[str, str]:
    """The title and the text of a page; relative links are resolved with `base`."""
    reader = _Reader(base)
    for kind, name, rest in _tokens(html):
        if kind == "text":
            reader.text(rest)
        elif kind == "open":
            reader.open(name, rest)
        else:
            reader.close(name)
    return reader.title.strip(), reader.result()


def _tokens(html: str) -> Iterator[tuple[str, str, str]]:
    """("text", "", text), ("open", name, attributes) and ("close", name, ""), in order."""
    at = 0
    while at < len(html):
        begins = _TAG.search(html, at)
        start = begins.start() if begins else len(html)
        if start > at:
            yield "text", "", html[at:start]
        if begins is None:
            return
        at, token = _tag(html, start)
        if token is None:
            continue
        yield token
        if token[0] == "open" and token[1] in _RAW:
            close = re.compile(f"</{token[1]}", re.IGNORECASE).search(html, at)
            stop = close.start() if close else len(html)
            yield "text", "", html[at:stop]
            at = stop


def _tag(html: str, start: int) -> tuple[int, tuple[str, str, str] | None]:
    """The tag at a place and where it ends."""
    if html.startswith("<!--", start):
        end = html.find("-->", start + 4)
        return (end + 3 if end >= 0 else len(html)), None
    end = html.find(">", start)
    if end < 0:
        return len(html), None
    inside = html[start + 1 : end]
    name = re.match(r"(/?)([a-zA-Z][a-zA-Z0-9:-]*)", inside)
    if name is None:
        return end + 1, None
    return end + 1, ("close" if name[1] else "open", name[2].lower(), inside[name.end() :])


class _Reader:
    """Feed tags and text; get lines."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.title = ""
        self._parts: list[str] = []
        self._open: list[str] = []
        self._skipping = 0  # how deep we are in hidden elements
        self._links: list[tuple[str, int]] = []
        self._code = 0

    def text(self, text: str) -> None:
        text = unescape(text)
        if "title" in self._open[-1:]:
            self.title += " ".join(text.split())
        elif self._skipping:
            return
        elif self._code:
            self._parts.append(text)
        elif text.strip():
            self._parts.append(re.sub(r"\s+", " ", text))
        elif self._parts and not self._parts[-1].endswith((" ", "\n")):
            self._parts.append(" ")

    def open(self, name: str, attributes: str) -> None:
        if name in _VOID or attributes.endswith("/"):
            self._single(name, attributes)
            return
        if len(self._open) < _DEEPEST:
            self._open.append(name)
        if self._skipping or name in _SKIPPED or _hides(attributes):
            self._skipping += 1
            return
        if re.fullmatch(r"h[1-6]", name):
            self._parts.append(f"\n\n{'#' * int(name[1])} ")
        elif name == "li":
            self._parts.append("\n- ")
        elif name == "pre":
            self._code += 1
            self._parts.append("\n```\n")
        elif name == "tr":
            self._parts.append("\n")
        elif name in ("td", "th"):
            self._parts.append(" | ")
        elif name == "a":
            self._links.append((_attribute_value(attributes, "href"), len(self._parts)))
        elif name in _BLOCKS:
            self._parts.append("\n\n")

    def _single(self, name: str, attributes: str) -> None:
        if self._skipping:
            return
        if name in ("br", "hr"):
            self._parts.append("\n")
        elif name == "img" and (alt := unescape(_attribute_value(attributes, "alt")).strip()):
            self._parts.append(f"[image: {alt}]")

    def close(self, name: str) -> None:
        if name not in self._open[-_DEEPEST:]:
            return
        while self._open:
            last = self._open.pop()
            self._end_element(last)
            if last == name:
                return

    def _end_element(self, name: str) -> None:
        if self._skipping:
            self._skipping -= 1
        elif name == "a" and self._links:
            self._link(*self._links.pop())
        elif name == "pre":
            self._code = max(self._code - 1, 0)
            self._parts.append("\n```\n")
        elif name in _BLOCKS or re.fullmatch(r"h[1-6]", name):
            self._parts.append("\n\n")

    def _link(self, href: str, since: int) -> None:
        label = "".join(self._parts[since:]).strip()
        href = unescape(href).strip()
        if not label or not href or href.startswith(("#", "javascript:", "data:")):
            return
        try:
            whole = urljoin(self.base, href) if self.base else href
        except ValueError:
            return
        self._parts[since:] = [f"[{label}]({whole})"]

    def result(self) -> str:
        text = "".join(self._parts)
        text = re.sub(r"[ \t]+\n", "\n", text)
        text = re.sub(r"\n[ \t]+(?=[^\s|])", "\n", text) if "```" not in text else text
        return re.sub(r"\n{3,}", "\n\n", text).strip()


def _hides(attributes: str) -> bool:
    if not attributes:
        return False
    lowered = attributes.lower()
    if (
        re.search(r"(?:^|\s)hidden(?:[\s=/]|$)", lowered)
        or _attribute_value(lowered, "aria-hidden") == "true"
    ):
        return True
    return "style" in lowered and bool(_HIDING.search(_attribute_value(lowered, "style").replace(" ", "")))


def _attribute_value(attributes: str, name: str) -> str:
    for found in _ATTRIBUTE.finditer(attributes[:4000]):
        if found[1].lower() == name:
            return found[2] or found[3] or found[4] or ""
    return ""
