"""Texts that try to break a page, and a check that none of them became more than text."""

from __future__ import annotations

from html.parser import HTMLParser

from turnout import History, Media, Outcome, Text, Thinking, ToolCall
from turnout.model import Code, Opaque, SystemTurn

MARK = "INJECTED"
HOSTILE = [
    f"<script>{MARK}</script>",
    f"</script><script>{MARK}()</script>",
    f"<img src=x onerror={MARK}>",
    f"<svg onload={MARK}>",
    f'"><a href="javascript:{MARK}">x</a>',
    f"' onmouseover='{MARK}",
    f'" autofocus onfocus="{MARK}',
    f"[x](javascript:{MARK})",
    f"[x](data:text/html,{MARK})",
    f"[x](vbscript:{MARK})",
    f"[x](  JaVaScRiPt:{MARK})",
    f"![x](https://evil.example/{MARK}.png)",
    f"<https://evil.example/{MARK}>",
    f"<javascript:{MARK}>",
    f"<iframe src=//evil.example/{MARK}>",
    f"<style>body{{background:url(//evil.example/{MARK})}}</style>",
    f'<base href="//evil.example/{MARK}">',
    f'<meta http-equiv=refresh content="0;url=//evil.example/{MARK}">',
    f"<form action=//evil.example/{MARK}><input>",
    f"<!--{MARK}",
    f"<![CDATA[{MARK}",
    f"{{{{ config }}}} {{% raw %}} {MARK}",
    "\u202egnp.exe",
    "\u200b\u200c\u2060zero\ufeff width",
    "\x00\x01\x1b[31mred\x1b]0;title\x07\x9b2J",
    "&lt;script&gt; &amp;amp; &#x3C;script&#x3E;",
    "`" * 2000,
    "*" * 5000 + "_" * 5000,
    "[" * 3000,
    "> " * 400 + "deep",
    "- " * 300 + "deep",
    "| a | b |\n|---|---|\n" + "| x | y |\n" * 5000,
    "|" * 20_000,
    "x" * 10_000_000,
    "\n" * 50_000,
    "```\n<script>\n" * 300,
    "```diff\n+<script>\n-</script>\n```",
    "\ud800 lone",
    "a\u0300" * 5000,
    f'x" style="position:fixed" class="{MARK}',
    f"# <b onclick={MARK}>\n\n<details open ontoggle={MARK}>",
    f"[ref]\n\n[ref]: javascript:{MARK} 'x\" onclick=\"{MARK}'",
]
TAGS = """
html head meta title link script body a header nav strong main h1 h2 h3 p form label input select option
button div ul li ol time span code pre details summary dl dt dd article section figure figcaption img svg rect
table thead tbody tfoot tr th td em s blockquote hr br mark textarea datalist style path
"""
ALLOWED = frozenset(TAGS.split())


def hostile_history(key: str, *texts: str) -> History:
    """A conversation with each text in every field that others write."""
    spoken = texts[0][:2000].encode("utf-8", "replace").decode()  # who writes a system prompt writes UTF-8
    history = History(key, system=spoken, tools=[{"name": _name(spoken), "description": spoken}])
    for text in texts:
        _add_hostile_turns(history, text)
    return history


def _add_hostile_turns(history: History, text: str) -> None:
    history.user([Text(text), Media("image/png", data="AAAA", name=text[:200])])
    call = ToolCall(f"c{len(history.entries)}", text[:100] or "x", {text[:100]: text, "n": [text[:200]]})
    blocks = [Thinking(text), Text(text), Code(text, text[:50], text), Opaque(text[:100] or "x", text), call]
    turn = history.reply(f"{_name(text)}:{_name(text)}", blocks)
    shown = [Text(text), Media(text[:50], uri=text[:200], name=text[:200]), Opaque(text[:50], text)]
    history.settle(turn.tool_calls[0].id, Outcome("error", shown, reason=text[:80]))
    history.note("switch", {"target": text[:100]})
    history.note("recovery", {"target": text[:100], "step": text[:100]})
    history.note("orphaned_result", text[:400])
    history.append(SystemTurn(history.next_key(), (Text(text),)))
    history.compact(turn.key, text)


def _name(text: str) -> str:
    return text[:40].strip().encode("utf-8", "replace").decode() or "m"


class _Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self.problems.append(f"<{tag}>")
        self.scripts += tag == "script"
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc", "autofocus", "formaction"):
                self.problems.append(f"{tag} {name}")
            if name in ("href", "src", "action") and not _is_own_or_web(tag, name, value or ""):
                self.problems.append(f"{tag} {name}={value!r}")
            if name == "class" and MARK in (value or ""):
                self.problems.append("class")


def _is_own_or_web(tag: str, name: str, value: str) -> bool:
    if tag == "a":
        return value.startswith(("/", "#", "http://", "https://")) and not value.startswith("//")
    if tag == "img":
        return value.startswith(("/sessions/", "data:image/"))
    return value.startswith("/") and not value.startswith("//")


def check_page(html: str, is_export: bool = False) -> None:
    """Fail where a page holds a tag, an attribute or an address that no template of ours wrote."""
    checker = _Checker()
    checker.feed(html)
    assert not checker.problems, checker.problems[:5]
    is_page = html.lstrip().startswith("<!doctype html>")
    assert checker.scripts == (1 if is_page and not is_export else 0)
    assert ("<style" in html) == is_export
    assert "\x00" not in html and "\x1b" not in html and "\u202e" not in html
