"""A hundred hostile histories: four conversations, each damaged in twenty-five ways that happen.

They are Chat messages, which every library reads. Each conversation began with another
provider, so its ids and its thinking are that provider's. No user text and no result occurs
twice in one history, and none needs escaping: what is left of them can be looked for in any body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from msgspec import Struct

Message = dict[str, Any]
Messages = list[Message]
Damage = Callable[[Messages], object]
NAMES = ("lookup", "read", "run")
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


class Hostile(Struct, frozen=True):
    """One history, and the tools that are declared beside it."""

    conversation: str
    damage: str  # "none" for the conversation as it was
    messages: Messages
    tools: list[dict[str, Any]]

    @property
    def texts(self) -> list[str]:
        """What users said and tools answered; a request that lost one of them is not whole.

        A result whose call is not there has no place in any API, so nobody has to send it.
        """
        asked = {call["id"] for message in self.messages for call in message.get("tool_calls") or ()}
        spoken = (
            message["content"]
            for message in self.messages
            if message["role"] == "user" or (message["role"] == "tool" and message["tool_call_id"] in asked)
        )
        return [text for text in spoken if text.strip()]


def histories() -> Iterator[Hostile]:
    """All hundred, always the same and in the same order."""
    return (hostile(conversation, damage) for conversation in CONVERSATIONS for damage in DAMAGES)


def unharmed() -> Iterator[Hostile]:
    """The four conversations before anything happened to them."""
    return (hostile(conversation, "none") for conversation in CONVERSATIONS)


def hostile(conversation: str, damage: str) -> Hostile:
    messages, names = deepcopy(CONVERSATIONS[conversation]), NAMES
    if damage != "none":
        DAMAGES[damage](messages)
    if damage == "undeclared":
        names = names[1:]
    if damage == "renamed":
        names = tuple(RENAMED[name] for name in names)
    tools = [{"name": name, "description": f"What {name} does.", "parameters": SCHEMA} for name in names]
    return Hostile(conversation, damage, messages, tools)


# ---- the conversations


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str | None, *calls: Message, **fields: Any) -> Message:
    message = {"role": "assistant", "content": text, **fields}
    return {**message, "tool_calls": list(calls)} if calls else message


def call(id: str, name: str, query: str) -> Message:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": f'{{"query":"{query}"}}'}}


def result(id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": id, "content": text}


REPOSITORY = [  # with OpenAI; the user's turn is next
    system("You are a coding agent. Look before you act."),
    user("Why does the build fail?"),
    said("Let me see.", call("call_Zk3v9QbT1", "read", "Makefile"), call("call_Zk3v9QbT2", "run", "make")),
    result("call_Zk3v9QbT1", "build: setup compile link"),
    result("call_Zk3v9QbT2", "ld: symbol not found: parse_header"),
    said("The linker misses parse_header."),
    user("Where is it defined?"),
    said(None, call("call_p0LmRw8Xa", "lookup", "parse_header")),
    result("call_p0LmRw8Xa", "src/header.c:41: static int parse_header"),
    said("In src/header.c, but it is static."),
    user("Then make it visible."),
]
JOURNEY = [  # with Kimi, thinking; the model is to go on from a result
    system("You plan journeys by rail."),
    user("I want to be in Vienna by noon."),
    said(
        None,
        call("functions.lookup:0", "lookup", "trains to Vienna"),
        call("functions.lookup:1", "lookup", "weather in Vienna"),
        reasoning_content="Trains first, and the weather for the clothes.",
    ),
    result("functions.lookup:0", "RJ 63 leaves at 07.20 and arrives at 11.22"),
    result("functions.lookup:1", "rain, 11 degrees"),
    said("RJ 63 gets you there at 11.22.", reasoning_content="That leaves half an hour."),
    user("Is there a seat by the window?"),
    said("I look.", call("functions.read:2", "read", "seats"), reasoning_content="Seats of RJ 63."),
    result("functions.read:2", "coach 24: seats 11, 15 and 37 are free"),
]
LEDGER = [  # with Claude; several rounds for one question
    system("You keep the books."),
    user("What did we spend on travel in May?"),
    said(
        "I add it up.",
        call("toolu_01A09q90qw90lq917835lq9a", "read", "flights"),
        call("toolu_01A09q90qw90lq917835lq9b", "read", "hotels"),
    ),
    result("toolu_01A09q90qw90lq917835lq9a", "flights in May: 4120.50"),
    result("toolu_01A09q90qw90lq917835lq9b", "hotels in May: 2980.00"),
    said("Both are in euros, so I add them.", call("toolu_01Bc4dE5fG6h", "run", "4120.50 + 2980.00")),
    result("toolu_01Bc4dE5fG6h", "7100.50"),
    said("7100.50 euros."),
    user("Write it into the report."),
]
SUPPORT = [  # with Mistral; the model says nothing beside its calls
    system("You answer for the shop. Be brief."),
    user("My parcel has not come."),
    said("", call("a1B2c3D4e", "lookup", "order"), call("f5G6h7I8j", "lookup", "carrier")),
    result("a1B2c3D4e", "order 5521: shipped on Monday"),
    result("f5G6h7I8j", "the carrier lost the label"),
    said("The carrier has it, but lost its label."),
    user("Can you send another one?"),
    said("", call("k9L0m1N2o", "run", "reship 5521")),
    result("k9L0m1N2o", "reshipped as order 5530"),
    said("Order 5530 is on its way."),
    user("When will it be here?"),
]
CONVERSATIONS = {"repository": REPOSITORY, "journey": JOURNEY, "ledger": LEDGER, "support": SUPPORT}


# ---- the damage: in all of them the first round is parallel, at 2, with its results at 3 and 4


def cancelled(messages: Messages) -> None:
    """The user stopped the last call, and spoke."""
    last = max(place for place, message in enumerate(messages) if "tool_calls" in message)
    messages[last + 1 :] = [user("Stop that. What do you know so far?")]


def cut(messages: Messages) -> None:
    """The stream broke off in the arguments of the last call."""
    cancelled(messages)
    messages[-2]["tool_calls"][-1]["function"]["arguments"] = '{"que'


def ids(name: Callable[[int, int, str], str]) -> Damage:
    """Other ids for calls and results, made of the place of the turn, of the call in it, and the old id."""

    def rename(messages: Messages) -> None:
        names: dict[str, str] = {}
        for turn, message in enumerate(messages):
            for place, made in enumerate(message.get("tool_calls", ())):
                names[made["id"]] = name(turn, place, made["id"])
                made["id"] = names[made["id"]]
            if message["role"] == "tool":
                message["tool_call_id"] = names[message["tool_call_id"]]

    return rename


def arguments(text: str) -> Damage:
    return lambda messages: messages[2]["tool_calls"][0]["function"].update(arguments=text)


def renamed(messages: Messages) -> None:
    for message in messages:
        for made in message.get("tool_calls", ()):
            made["function"]["name"] = RENAMED[made["function"]["name"]]


def foreign(messages: Messages) -> None:
    block = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVkIGJ5IHNvbWVib2R5"}
    for message in messages:
        if message["role"] == "assistant":
            message |= {"reasoning": "Hm.", "thinking_blocks": [{**block}], "reasoning_details": [{**block}]}


RENAMED = {"lookup": "web.lookup", "read": "read file", "run": "mcp/shell.run"}
DAMAGES: dict[str, Damage] = {
    # calls and results
    "cancelled": cancelled,
    "cut": cut,
    "lost": lambda m: m.pop(4),
    "twice": lambda m: m.insert(5, {**m[4]}),
    "early": lambda m: m.insert(2, m.pop(3)),
    "late": lambda m: m.insert(5, m.pop(4)),  # when the model had gone on
    "interjected": lambda m: m.insert(3, user("Please hurry.")),
    "orphan": lambda m: m.insert(5, result("call_nobody", "the answer to something else")),
    "trimmed": lambda m: m.__delitem__(slice(1, 3)),  # to save tokens, and the calls went with it
    "silent": lambda m: m[3].update(content=""),
    # ids, arguments and names
    "reused": ids(lambda turn, place, id: f"call_{place}"),  # every turn counts from nought
    "long": ids(lambda turn, place, id: f"call_{turn}{place}" + "9f8e7d6c5b4a" * 6),
    "odd": ids(lambda turn, place, id: f"run {turn}/{place}|fc_{id}#é"),
    "blank": ids(lambda turn, place, id: ""),
    "bare": arguments(""),
    "broken": arguments('{"query": "Make'),
    "array": arguments('["Makefile"]'),
    "renamed": renamed,  # to names that their first provider took
    "undeclared": lambda m: m[2]["tool_calls"][0]["function"].update(name="lookup"),  # offered no more
    # who speaks, and what is said
    "headless": lambda m: m.pop(1),
    "prefilled": lambda m: m.append(said("Let me just ")),
    "doubled": lambda m: m.__setitem__(slice(2, 2), [said("Gladly."), said("Now."), user("Be quick.")]),
    "hollow": lambda m: m.__setitem__(slice(2, 2), [said(None), user("Are you there?")]),
    "whitespace": lambda m: m.__setitem__(slice(2, 2), [said(" \n"), user("  ")]),
    "foreign": foreign,  # thinking, as some gateway tells it
}
