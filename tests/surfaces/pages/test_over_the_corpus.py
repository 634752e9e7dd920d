"""Over damaged and recorded conversations: sums are sums, repairs are the report's, nothing is unsealed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import fsum
from pathlib import Path
from typing import Any

import pytest
from bench.hostile import histories
from tests.corpus import SOAK, needs_corpus, share
from tests.handoff import recorded
from tests.surfaces.gateway.served import TOKEN, UPSTREAMS, ask, make_gateway
from tests.surfaces.pages.shown import shown

from turnout import History, ModelTurn, ingest, render
from turnout.simulate import ScriptedTransport
from turnout.simulate.model import demo
from turnout.store import Store
from turnout.surfaces.gateway.gateway import Gateway
from turnout.surfaces.pages.request_records import GROUPS, RequestFilter, RequestRecords
from turnout.surfaces.pages.site import Pages

DAMAGED = list(share(list(histories()), 4))
TARGETS = list(UPSTREAMS.values())
MOST_SEALED = 10_000 if SOAK else 15


@contextmanager
def gateway_with_pages(folder: Path) -> Iterator[Gateway]:
    gateway = make_gateway(folder, transport=ScriptedTransport(demo), keep_bodies=True)
    store = folder / "sessions.db"
    Pages(gateway.config, open_store=lambda: Store(store), memory=gateway.memory.path, token=TOKEN).add_to(
        gateway
    )
    try:
        yield gateway
    finally:
        for close in gateway.on_close:
            close()
        gateway.memory.close()


async def ask_damaged(gateway: Gateway) -> list[str]:
    """Every damaged conversation to a target; the ids of the requests."""
    ids = []
    for at, each in enumerate(DAMAGED):
        body = {"model": "gpt-5.1", "messages": each.messages}
        target = TARGETS[at % len(TARGETS)]
        answer = await ask(gateway, "POST", "/v1/chat/completions", body, x_turnout_target=target)
        assert answer.status == 200, answer.body[:300]
        ids.append(answer.headers["x-turnout-request"])
    return ids


def repairs_on(page: str) -> list[str]:
    """The rules of the repairs that a page lists, below the heading that counts them."""
    heading = re.search(r"<h2>([\d,]+) repairs?</h2>", page)
    assert heading
    rest = page[heading.end() :]
    listed = rest[: rest.index("</ul>")] if rest.lstrip().startswith("<ul") else ""
    rules = re.findall(r"<li><code>([^<]*)</code>", listed)
    assert int(heading[1]) == len(rules)
    return rules


def test_requests_show_the_repairs_and_the_sums_of_their_reports(tmp_path: Path) -> None:
    """Damaged conversations through a gateway: list, page and report agree, and so does every group."""
    with gateway_with_pages(tmp_path) as gateway:

        async def look() -> int:
            repaired = 0
            for id in await ask_damaged(gateway):
                gateway.memory.flush()
                report = (await ask(gateway, "GET", f"/requests/{id}.json")).json
                page = (await ask(gateway, "GET", f"/requests/{id}")).body.decode()
                told = [text.partition(" ")[0] for text in report["repaired"]] + ["changed"] * len(
                    report["dropped"]
                )
                assert repairs_on(page) == told and report["repairs"] == len(told)
                repaired += bool(told)
            return repaired

        assert asyncio.run(look()) > len(DAMAGED) // 3
        check_groups(RequestRecords(gateway.memory.path))


def check_groups(records: RequestRecords) -> None:
    """Each group's totals are the sums of the rows that its filter lists."""
    rows = records.page(RequestFilter(), 10_000)
    for by in GROUPS:
        groups = records.groups(RequestFilter(), by, limit=10_000)
        for name in ("cost", "tokens", "repairs"):
            whole = fsum(row[name] or 0 for row in rows)
            assert fsum(group[name] for group in groups) == pytest.approx(whole, rel=1e-12)
        if by in ("client", "conversation"):
            for group in groups:
                own = [row for row in rows if row[by] == group["name"]]
                assert group["requests"] == len(own)
                assert group["cost"] == pytest.approx(fsum(row["cost"] or 0 for row in own), rel=1e-12)


def test_as_another_provider_shows_the_repairs_of_the_report(tmp_path: Path) -> None:
    """Damaged conversations as each target reads them: the page lists what ingest and render repaired."""
    with shown(tmp_path) as made:
        for at, each in enumerate(DAMAGED):
            history = ingest(each.messages, "openai-chat", "openai:gpt-5.1", key=f"d{at}")
            made.store.add(history)
            target, read = TARGETS[at % len(TARGETS)], made.store.read(f"d{at}")
            page = made.text(f"/sessions/d{at}/as/{target}")
            report = render(read, target).report
            assert repairs_on(page) == [item.code for item in (*read.diagnostics, *report.diagnostics)]


def sealed_texts(value: Any) -> Iterator[str]:
    """Every long text without spaces in the private state of a turn: signatures, encrypted reasoning."""
    match value:
        case str():
            if len(value) >= 60 and " " not in value and "://" not in value:
                yield value
        case dict():
            for item in value.values():
                yield from sealed_texts(item)
        case list() | tuple():
            for item in value:
                yield from sealed_texts(item)


def private_state(history: History) -> set[str]:
    turns = [turn for turn in history.turns if isinstance(turn, ModelTurn)]
    holders = [*turns, *(block for turn in turns for block in turn.blocks)]
    return {text for each in holders if each.residue is not None for text in sealed_texts(each.residue.data)}


@needs_corpus
def test_no_page_shows_the_private_state_of_a_recorded_conversation(tmp_path: Path) -> None:
    """Signatures and encrypted reasoning of providers: on no page and in no export, also for their maker."""
    seen = 0
    with shown(tmp_path) as made:
        for at, exchange in enumerate(recorded.requests()):
            history = recorded.history(exchange)
            sealed = private_state(history)
            if not sealed or seen >= MOST_SEALED:
                continue
            seen += 1
            history.key = f"s{at}"
            made.store.add(history)
            maker = recorded.origin(exchange)
            for page in ("", "/export.html", f"/as/{maker}", "/as/kimi:kimi-k2.5"):
                text = made.text(f"/sessions/s{at}{page}")
                assert not [each for each in sealed if each in text], (page, exchange.id)
    assert seen
