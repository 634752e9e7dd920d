"""Every page answers, behind the gateway's checks, and shows no key, token or sealed state."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.surfaces.gateway.served import TOKEN as GATEWAY_TOKEN
from tests.surfaces.gateway.served import ask_once, make_gateway
from tests.surfaces.pages.hostile import check_page
from tests.surfaces.pages.shown import KEY, SEALED, TOKEN, Shown, sample_history, shown

from turnout import Store
from turnout.surfaces.pages.site import Pages

ADDRESSES = [
    "/sessions",
    "/sessions?group=provider&words=parse",
    "/sessions/sample",
    "/sessions/sample?from=1",
    "/sessions/sample/live?from=2",
    "/sessions/sample/as/gemini:gemini-2.5-pro",
    "/sessions/sample/as/openrouter:anthropic/claude-sonnet-4.5",
    "/sessions/sample/as/anthropic:claude-sonnet-4-5?against=kimi:kimi-k2.5",
    "/sessions/sample/export.html",
    "/requests",
    "/requests?group=client&errors=1",
    "/requests?words=kimi&repairs=1&provider=kimi&client=owner",
    "/requests/req_000001",
    "/requests/req_000002",
    "/numbers",
    "/waiting",
]


def filled(made: Shown) -> None:
    made.store.add(sample_history(), title="Why does parse keep blanks?")
    made.add_requests(12, error=f"refused: {KEY} and {TOKEN}")


def test_every_page_answers_with_a_strict_policy(tmp_path: Path) -> None:
    """Each address is a whole page without inline script or style, that loads nothing from elsewhere."""
    with shown(tmp_path) as made:
        filled(made)
        for url in ADDRESSES:
            answer = made.ask(url)
            assert answer.status == 200, (url, answer.body)
            text = answer.body.decode()  # type: ignore[union-attr]
            check_page(text, is_export="export" in url)
            assert "script-src 'self'" in answer.headers["content-security-policy"]
            assert "unsafe" not in answer.headers["content-security-policy"]


def test_no_page_shows_a_secret(tmp_path: Path) -> None:
    """Keys, tokens and sealed state are on no page and in no export, wherever they came from."""
    with shown(tmp_path) as made:
        history = sample_history("leak")
        history.user(f"my key is {KEY}, my token {TOKEN}, sealed {SEALED}")
        made.store.add(history, title=f"{KEY} {TOKEN}")
        made.add_requests(3, error=f"refused: {KEY} {TOKEN}", asked=KEY)
        for url in [each.replace("sample", "leak") for each in ADDRESSES]:
            text = made.text(url)
            assert KEY not in text and TOKEN not in text and SEALED not in text, url


@pytest.mark.parametrize("url", ["/sessions", "/requests", "/numbers", "/waiting", "/sessions/sample"])
def test_no_page_without_signing_in(tmp_path: Path, url: str) -> None:
    """A browser is led to the sign-in, a program gets 401, a foreign Host or Origin is refused."""
    with shown(tmp_path) as made:
        assert made.ask(url, signed_in=False).headers["location"] == "/"
        assert made.ask(url, signed_in=False, accept="*/*").status == 401
        assert made.ask(url, host="evil.example:8484").status == 421
        assert made.ask(url, origin="http://evil.example").status == 403
        assert made.ask(url, signed_in=False, authorization=f"Bearer {TOKEN}").status in (200, 404)


def test_a_link_works_once_and_its_cookie_is_strict(tmp_path: Path) -> None:
    """The one-time link sets a cookie that scripts and other sites cannot use; a second use is refused."""
    with shown(tmp_path) as made:
        link = f"/?once={made.pages.sign_in.make_link()}"
        first, second = made.ask(link, signed_in=False), made.ask(link, signed_in=False)
        assert first.status == 303 and first.headers["location"] == "/sessions"
        assert "HttpOnly" in first.headers["set-cookie"] and "SameSite=Strict" in first.headers["set-cookie"]
        assert second.status == 401 and "set-cookie" not in second.headers


def test_the_token_signs_in_by_a_form(tmp_path: Path) -> None:
    """The gateway's token opens the pages; another one does not."""
    with shown(tmp_path) as made:
        right = made.ask("/pages/sign-in", form={"token": TOKEN}, signed_in=False)
        wrong = made.ask("/pages/sign-in", form={"token": "guess"}, signed_in=False)
        assert right.status == 303 and "set-cookie" in right.headers
        assert wrong.status == 401 and "set-cookie" not in wrong.headers


def test_a_live_part_is_sent_only_when_it_changed(tmp_path: Path) -> None:
    """The script asks with the tag of what it has, and gets 304 until something is new."""
    with shown(tmp_path) as made:
        made.add_requests(3)
        first = made.ask("/requests?part=rows")
        again = made.ask("/requests?part=rows", if_none_match=first.headers["etag"])
        made.add_requests(5)
        later = made.ask("/requests?part=rows", if_none_match=first.headers["etag"])
        assert (first.status, again.status, later.status) == (200, 304, 200)


def test_the_gateway_shows_the_same_pages(tmp_path: Path) -> None:
    """Below a gateway's address the pages need its token or a cookie; a cookie opens nothing else."""
    gateway = make_gateway(tmp_path)
    store = tmp_path / "sessions.db"
    Store(store).add(sample_history())
    pages = Pages(
        gateway.config, open_store=lambda: Store(store), memory=gateway.memory.path, token=GATEWAY_TOKEN
    )
    pages.add_to(gateway)
    try:
        assert ask_once(gateway, "GET", "/sessions/sample").status == 200
        assert ask_once(gateway, "GET", "/requests/none.json").status == 404
        assert ask_once(gateway, "GET", "/").body.startswith(b"turnout gateway")
        entered = ask_once(gateway, "GET", f"/?once={pages.sign_in.make_link()}", authorization="")
        cookie = entered.headers["set-cookie"].partition(";")[0]
        assert ask_once(gateway, "GET", "/sessions", authorization="", cookie=cookie).status == 200
        assert ask_once(gateway, "GET", "/v1/models", authorization="", cookie=cookie).status == 401
    finally:
        for close in gateway.on_close:
            close()
        gateway.memory.close()


def test_an_unknown_page_says_where_to_go(tmp_path: Path) -> None:
    """A wrong id, target or image is a page with 404 that names the next step."""
    with shown(tmp_path) as made:
        filled(made)
        for url in (
            "/sessions/nothing",
            "/requests/nothing",
            "/sessions/sample/as/nobody:x",
            "/sessions/sample/media/9/9",
        ):
            answer = made.ask(url)
            assert answer.status == 404 and b"/sessions" in answer.body, url  # type: ignore[operator]


def test_links_lead_to_pages_that_exist(tmp_path: Path) -> None:
    """Every link of every page is an address that answers."""
    with shown(tmp_path) as made:
        filled(made)
        found = {link for url in ADDRESSES for link in re.findall(r'href="(/[^"#]*)', made.text(url))}
        for link in sorted(found):
            assert made.ask(link.replace("&amp;", "&")).status in (200, 303), link


def test_pages_are_drawn_beside_the_loop(tmp_path: Path) -> None:
    """Two pages at the same time both come, also from one loop."""
    with shown(tmp_path) as made:
        filled(made)
        made.sign_in()

        async def both() -> list[int]:
            from turnout.surfaces.gateway.values import Request

            asked = [Request.of("GET", url, {"host": "127.0.0.1:8484"}) for url in ("/sessions", "/numbers")]
            return [each.status for each in await asyncio.gather(*map(made.application.answer, asked))]

        assert asyncio.run(both()) == [200, 200]
