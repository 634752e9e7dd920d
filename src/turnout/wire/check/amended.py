"""Rules that have no number in the rulebook, each with its evidence.

R: a recorded exchange. P: a public report. D: documentation.
"""

AMENDED: dict[str, str] = {
    "ANT-31": "R: text after a call in one turn, 400 on claude-haiku-4-5 (2026-05); P: taken since (2026-09)",
    "ANT-32": "D: every request names the version of the API in a header",
    "ANT-33": "D: 8000 pixels a side, 2000 with more than 20 images, 5 MB of base64 (for some: 10)",
    "COP-06": "P: a request with images needs Copilot-Vision-Request: true (copilot-api#16, opencode#701)",
    "COP-07": "P: X-Initiator says whether a user or an agent began the request",
    "DSK-06": "R: parts other than text, 400 (6)",
    "OAC-16": "R: sound to gpt-5-mini, 400 (5)",
    "OAC-17": "R: web_search_options to gpt-4o, 400",
    "OPT-01": "R: a temperature out of range, 400 (3)",
    "VTX-01": "D: Claude on Vertex: the version in the body, the model only in the path",
    "OPT-02": "R: a temperature to a model that thinks, 400",
}
