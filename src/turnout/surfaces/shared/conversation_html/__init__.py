"""A conversation as HTML, the same on a page and in an exported file.

    markdown      Markdown as HTML that cannot act; the only such renderer of turnout
    masked_json   a body for people: private state and image data left out, ids linked
    blocks        one block of a turn: text, thinking, code, image, what only a provider knows
    calls         a call with its one outcome, and parallel calls as a timeline
    rows          the turns, and what happened between them, page by page
    drawing       jinja2, its filters, the style sheet
    export        a whole conversation as one file that loads nothing

Needs `jinja2` and `markdown-it-py`, so it is imported where it is used.
"""
