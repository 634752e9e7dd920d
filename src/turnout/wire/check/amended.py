"""Rules that have no number in the rulebook, each with its evidence.

R: a recorded exchange. P: a public report. D: documentation.
"""

AMENDED: dict[str, str] = {
    "ANT-31": "R: text after a call in one turn, 400 on claude-haiku-4-5 (2026-05); P: taken since (2026-09)",
    "ANT-32": "D: every request names the version of the API in a header",
    "ANT-33": "D: 8000 pixels a side, 2000 with more than 20 images, 5 MB of base64 (for some: 10)",
    "BDK-07": "R: results first in 105 of 106 accepted requests",
    "BDK-08": "R: calls last in 105 of 105 accepted requests",
    "BDK-09": "R: a place in S3 and a video to Claude, 400; D: formats, sources and names of media",
    "BDK-10": "D: a document needs a text beside it, and a name of its own",
    "BDK-11": "D: fields, enums and limits of Bedrock's service model",
    "BDK-12": "R: InvokeModel takes no `model` and no links, 400; D: anthropic_version",
    "COP-06": "P: a request with images needs Copilot-Vision-Request: true (copilot-api#16, opencode#701)",
    "COP-07": "P: X-Initiator says whether a user or an agent began the request",
    "DSK-06": "R: parts other than text, 400 (6)",
    "OAC-16": "R: sound to gpt-5-mini, 400 (5)",
    "OAC-17": "R: web_search_options to gpt-4o, 400",
    "COH-01": "D: roles and parts of messages (reference of /v2/chat); R: 36 recordings fit",
    "COH-02": "P: every call is answered (agentdojo#200); R: 8 recordings with results fit",
    "COH-03": "D: names of tools, and the words REQUIRED and NONE; R: 5 recordings with a choice",
    "COH-04": "D: fields and their ranges; JSON mode not with tools or documents",
    "OLL-04": "P: content and arguments of another type, 400 (ollama#6451, cai#76); R: 13 recordings fit",
    "OLL-05": "D: think, format and options are of fixed types",
    "OPT-01": "R: a temperature out of range, 400 (3)",
    "VTX-01": "D: Claude on Vertex: the version in the body, the model only in the path",
    "OPT-02": "R: a temperature to a model that thinks, 400",
}
