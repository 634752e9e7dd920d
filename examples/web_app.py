"""A web application: many users, their conversations with a model, streamed to the browser.

    pip install '.[simulate]'          # brings Starlette and uvicorn
    export APP_USERS=ada=secret-1,bob=secret-2 OPENAI_API_KEY=…
    uvicorn examples.web_app:app

One transport and one store serve all users. Each prompt makes a session, runs it and closes it again; the
store holds the conversation between prompts. A browser that goes away cancels its run. Each user has limits.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

import turnout

PAGE = Path(__file__).with_name("web_app.html")
CHAT_NAME = re.compile(r"[a-z0-9-]{1,40}")


@turnout.tool(risk="read")
async def opening_hours(day: str) -> str:
    """When the shop is open.

    Args:
        day: The name of a day.
    """
    return "closed" if day.lower() == "sunday" else "9 to 18"


@dataclass
class Settings:
    """What the environment says about this application."""

    model: str = "openai:gpt-5.1"
    base_url: str = ""
    store: str = "web_app.db"
    users: dict[str, str] = field(default_factory=dict)  # by token
    runs: int = 2  # of one user at the same time
    budget: float = 1.0  # US dollars, for all conversations of one user

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Settings:
        pairs = (each.partition("=") for each in environment.get("APP_USERS", "").split(",") if each)
        return cls(
            environment.get("APP_MODEL", cls.model),
            environment.get("APP_BASE_URL", cls.base_url),
            environment.get("APP_STORE", cls.store),
            {token: name for name, _, token in pairs},
            int(environment.get("APP_RUNS", cls.runs)),
            float(environment.get("APP_BUDGET", cls.budget)),
        )


class Desk:
    """What all requests share: the settings, one store, one pool of connections, and who is running what."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = turnout.Store(settings.store)
        self.transport = turnout.HttpTransport()
        self.running: Counter[str] = Counter()

    async def close(self) -> None:
        await self.transport.close()
        self.store.close()

    def spent_by(self, user: str) -> float:
        """What a user has used so far. The store knows it, so a restart of the server forgets nothing."""
        return sum(line.cost or 0.0 for line in self.store.list() if line.id.startswith(f"{user}."))

    def session(self, user: str, chat: str) -> turnout.Session:
        """The conversation of this user. The id begins with the user, so users reach only their own."""
        id = f"{user}.{chat}"
        left = self.settings.budget - self.spent_by(user)
        used_here = (self.store.summary(id).cost or 0.0) if self.store.knows(id) else 0.0
        return turnout.Session(
            self.settings.model,
            base_url=self.settings.base_url,
            tools=[opening_hours],
            system="You work for a small shop. Be brief.",
            store=self.store,
            id=id,
            limits=turnout.Limits(cost=used_here + left, rounds=10, time=300),
            world=turnout.World(transport=self.transport),
        )

    @asynccontextmanager
    async def place_for_run(self, user: str) -> AsyncGenerator[None]:
        """Take one of the places of this user, or refuse with the reason."""
        if self.running[user] >= self.settings.runs:
            raise HTTPException(429, f"{self.settings.runs} answers are being written for you; wait for one")
        if self.spent_by(user) >= self.settings.budget:
            raise HTTPException(402, f"your budget of {self.settings.budget:.2f} US dollars is used up")
        self.running[user] += 1
        try:
            yield
        finally:
            self.running[user] -= 1


class Said(msgspec.Struct):
    """What a browser sends. `key` names the prompt; each has another."""

    text: str
    key: str


class EventStream(Response):
    """Server-sent events of one run. It ends with the run, or when the browser is gone: then the run ends."""

    media_type = "text/event-stream"

    def __init__(self, desk: Desk, user: str, chat: str, said: Said) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]  # it is not known yet
        self.desk, self.user, self.chat, self.said = desk, user, chat, said

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Not Starlette's StreamingResponse: with servers of ASGI 2.4 it notices at the next event only that
        # the browser is gone, and a model that thinks for a minute sends none.
        writing = asyncio.create_task(self._write_events(send))
        leaving = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            writing.cancel()  # leaving the events of a run cancels it, up to the provider's connection
            await asyncio.gather(writing, leaving, return_exceptions=True)
        if not writing.cancelled():
            writing.result()  # raises what stopped it

    async def _write_events(self, send: Send) -> None:
        async with self.desk.place_for_run(self.user), self.desk.session(self.user, self.chat) as session:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for event in session.run(self.said.text, key=self.said.key):
                if shown := event_for_browser(event):
                    line = f"data: {json.dumps(shown)}\n\n".encode()
                    await send({"type": "http.response.body", "body": line, "more_body": True})
        # After the place is free again: a browser that sees the end may say the next thing at once.
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def event_for_browser(event: turnout.SessionEvent) -> dict[str, Any] | None:
    """What a browser is shown of an event; None for what it does not need."""
    match event:
        case turnout.TextDelta(text):
            return {"type": "text", "text": text}
        case turnout.Discarded():
            return {"type": "take_back"}  # the reply broke, and is asked for again
        case turnout.ToolState(name=name, state="executing"):
            return {"type": "tool", "name": name}
        case turnout.Status(kind="retrying" | "switched", detail=detail):
            return {"type": "status", "text": detail}
        case turnout.Complete(turn=turn, cost=cost):
            return {"type": "done", "text": turn.text, "cost": cost}
        case turnout.Failed(error=error):
            return {"type": "failed", "text": str(error)}
        case turnout.Cancelled() | turnout.Waiting():
            return {"type": "failed", "text": event.detail or "cancelled"}
        case _:
            return None


# Addresses


async def say(request: Request) -> Response:
    """Say something in a conversation; the answer comes as events.

    A browser that lost the connection sends the same key again, and the run goes on where it was, or gives
    what came of it; nothing is said twice.
    """
    user, chat = signed_in_user(request), chat_name(request)
    try:
        said = msgspec.json.decode(await request.body(), type=Said)
    except msgspec.DecodeError as error:
        raise HTTPException(400, f'{error}; send {{"text": "…", "key": "…"}}') from None
    return EventStream(desk_of(request), user, chat, said)


async def show(request: Request) -> Response:
    """The conversation so far."""
    desk = desk_of(request)
    id = f"{signed_in_user(request)}.{chat_name(request)}"
    if not desk.store.knows(id):
        raise HTTPException(404, "there is no such conversation")
    history = await asyncio.to_thread(desk.store.read, id)
    turns = [
        {
            "by": "model" if isinstance(turn, turnout.ModelTurn) else "user",
            "text": "".join(block.text for block in turn.blocks if isinstance(block, turnout.Text)),
        }
        for turn in history.turns
    ]
    return JSONResponse({"turns": [turn for turn in turns if turn["text"]]})


async def page(_: Request) -> Response:
    return FileResponse(PAGE)


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def signed_in_user(request: Request) -> str:
    """Who asks. In place of this, use the sign-in that your application has."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    users = desk_of(request).settings.users
    if token not in users:
        raise HTTPException(401, "send Authorization: Bearer with your token")
    return users[token]


def chat_name(request: Request) -> str:
    name: str = request.path_params["chat"]
    if not CHAT_NAME.fullmatch(name):
        raise HTTPException(400, "name a conversation with small letters, digits and '-'")
    return name


def tell_refusal(_: Request, error: Exception) -> Response:
    """Every refusal has the same form, and says what to do."""
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code)
    status = 409 if isinstance(error, turnout.SessionHeld) else 500
    return JSONResponse({"error": str(error)}, status)


def make_app(settings: Settings) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        desk = app.state.desk = Desk(settings)
        yield
        await desk.close()

    return Starlette(
        routes=[
            Route("/", page),
            Route("/chats/{chat}", show),
            Route("/chats/{chat}", say, methods=["POST"]),
        ],
        exception_handlers={HTTPException: tell_refusal, turnout.TurnoutError: tell_refusal},
        lifespan=lifespan,
    )


app = make_app(Settings.read(os.environ))
