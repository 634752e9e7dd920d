"""The demo as one self-contained page: the timeline, and what each provider said."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from .stage import Verdict

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
body{background:#fff;color:#222}
h2{font-size:1.05rem;margin:1.6rem 0 .3rem;padding-left:.8rem;border-left:4px solid #2a7ae2}
p{margin:.1rem 0 .1rem 1rem;white-space:pre-wrap}
.tools{color:#1d4ed8}.result{color:#777}.synthetic,.event{color:#b45309}.status{color:#9333ea}
.accepted{color:#15803d}.refused{color:#b91c1c;font-weight:600}
table{border-collapse:collapse;margin-top:2rem}
td,th{padding:.3rem .8rem;border-bottom:1px solid #ddd;text-align:left}
@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}td,th{border-color:#333}.result{color:#888}}
"""


def page(lines: Sequence[Any], verdicts: Sequence[Verdict], seconds: float) -> str:
    """HTML without anything from elsewhere."""
    told = "\n".join(_line(line.kind, line.text.strip()) for line in lines if "---" not in line.text)
    head = ("provider", "requests", "accepted", "refused", "failed", "a naive replay gets")
    cells = "".join(f"<th>{name}</th>" for name in head)
    rows = "".join(_row(verdict) for verdict in verdicts)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>turnout demo</title>"
        f"<meta name=viewport content='width=device-width'><style>{STYLE}</style>"
        f"<h1>One conversation, {len(verdicts)} providers</h1>{told}"
        f"<table><tr>{cells}</tr>{rows}</table><p>{seconds:.1f} s</p></html>"
    )


def _line(kind: str, text: str) -> str:
    return f"<h2>{escape(text)}</h2>" if kind == "step" else f"<p class={kind}>{escape(text)}</p>"


def _row(verdict: Verdict) -> str:
    values = (
        verdict.provider,
        verdict.requests,
        verdict.accepted,
        verdict.refused,
        verdict.failed,
        verdict.naive,
    )
    return "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in values) + "</tr>"
