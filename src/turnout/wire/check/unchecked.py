"""The rules of the rulebook that no checker applies, each with the reason.

One body shows most of what a provider refuses. It cannot show what is listed here, or no
refusal was ever seen. Every rule is either applied or listed.
"""

REPLIES = "about replies, not requests"
QUALITY = "nothing is refused: the model answers worse"
CHOICE = "nothing is refused: a choice of the renderer"

CHAT: dict[str, str] = {
    "OAC-04": "no server of this wire was seen to refuse a repeated id; other APIs have rules of their own",
    "MIS-12": QUALITY,
    "KIM-05": QUALITY,
    "DSK-05": CHOICE,
    "QWN-04": QUALITY,
    "XAI-03": QUALITY,
    "XAI-04": REPLIES,
    "XAI-05": REPLIES,
    "COP-03": QUALITY,
    "COP-04": REPLIES,
    "ORT-03": CHOICE,
    "ORT-04": REPLIES,
    "ORT-05": REPLIES,
    "VLL-03": QUALITY,
    "VLL-04": "the server's chat template decides which role may follow which; the body does not show it",
    "OLL-02": QUALITY,
    "OLL-03": REPLIES,
}

_BOUND = "opaque state is bound to its issuer, and no body says who that was"

RESPONSES: dict[str, str] = {
    "OAR-10": _BOUND,
    "OAR-17": CHOICE,
    "OAR-18": QUALITY,
}

ANTHROPIC: dict[str, str] = {
    "ANT-18": "needs the reply as it was: the body does not show what was changed in it",
    "ANT-19": _BOUND,
    "ANT-29": QUALITY,
}

GEMINI: dict[str, str] = {
    "GEM-09": CHOICE,
    "GEM-10": _BOUND,
    "GEM-11": QUALITY,
}

_ISSUER = "needs to know who issued the reasoning, which no body says"

OTHERS: dict[str, str] = {
    **{f"STR-{number:02}": REPLIES for number in range(1, 13)},
    **{f"SEED-{number:02}": "about a document, not about a request" for number in range(1, 23)},
    "XSW-01": _ISSUER,
    "XSW-02": CHOICE,
    "XSW-03": "what a body shows of it is ANT-16",
    "XSW-04": "what a body shows of it is GEM-07",
    "XSW-05": "what a body shows of it is KIM-02 and DSK-01",
    "XSW-06": "what a body shows of it is OAR-08 and OAR-09; the rest " + _ISSUER,
    "XSW-07": "what a body shows of it is ANT-06, OAC-03, OAR-06 and MIS-01",
    "XSW-08": CHOICE,
    "XSW-09": "inferred, no refusal seen; what a body shows of it is ANT-17",
}

UNCHECKED: dict[str, str] = {**CHAT, **RESPONSES, **ANTHROPIC, **GEMINI, **OTHERS}
