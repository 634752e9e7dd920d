"""Pictures as SVG text, readable on a light and on a dark page: colours follow the reader's system."""

from __future__ import annotations

from html import escape

STYLE = """
  .panel { fill: #ffffff; stroke: #d0d7de }
  .box { fill: #eef2f6; stroke: #8c959f }
  .pure { fill: #e3f4ee; stroke: #3f8f75 }
  .bad { fill: #fdecea; stroke: #cf4436 }
  .good { fill: #e3f4ee; stroke: #2f855a }
  .edge { stroke: #8c959f; fill: none; stroke-width: 1.2 }
  text { font: 13px system-ui, "Segoe UI", sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .name { font-weight: 600 }
  .small { font-size: 11.5px; fill: #57606a }
  .code { font: 12px ui-monospace, "SF Mono", Menlo, Consolas, monospace }
  .badtext { fill: #b3261e; font-weight: 600 }
  .goodtext { fill: #1e7045; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .panel { fill: #12161c; stroke: #30363d }
    .box { fill: #1f262e; stroke: #57606a }
    .pure { fill: #14302a; stroke: #3f8f75 }
    .bad { fill: #3a1a17; stroke: #e5695d }
    .good { fill: #12312a; stroke: #3fb27f }
    .edge { stroke: #6e7681 }
    text { fill: #e6edf3 }
    .small { fill: #9aa4ae }
    .badtext { fill: #ff8a80 }
    .goodtext { fill: #6fdca6 }
  }
"""


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    """A whole picture on a panel of its own. The title is read to those who cannot see it."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">'
    )
    panel = f'<rect class="panel" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"/>'
    return "\n".join(
        [head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", panel, *parts, "</svg>\n"]
    )


def box(x: float, y: float, width: float, height: float, kind: str = "box") -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'


def label(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place} xml:space="preserve">{escape(text)}</text>'


def edge(start: tuple[float, float], end: tuple[float, float], bend: float) -> str:
    """A line straight down from one box, and over to another in the last `bend` above it."""
    (x1, y1), (x2, y2) = start, end
    middle = y2 - bend / 2
    curve = f"C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"
    return f'<path class="edge" d="M{x1:g} {y1:g} V{y2 - bend:g} {curve}"/>'


def arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """A straight line with a head, along one axis."""
    (x1, y1), (x2, y2) = start, end
    across, down = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    wings = [(x2 - 6 * across + side * down, y2 - 6 * down + side * across) for side in (-4, 4)]
    head = " ".join(f"M{x2:g} {y2:g} L{x:g} {y:g}" for x, y in wings)
    return f'<path class="edge" d="M{x1:g} {y1:g} L{x2:g} {y2:g} {head}"/>'
