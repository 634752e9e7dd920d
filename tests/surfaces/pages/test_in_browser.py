"""The pages in a real browser: scripts off and on, a phone and a screen, light and dark."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from tests.corpus import SOAK
from tests.surfaces.pages.chromium import Chromium, Tab, running_chromium
from tests.surfaces.pages.gallery import LONG_ID, fill_gallery, viewing
from tests.surfaces.pages.hostile import HOSTILE, hostile_history
from tests.surfaces.pages.shown import TOKEN, Shown, request_record, shown

ACCESSIBILITY = Path(__file__).with_name("accessibility.js").read_text()
ROOT = Path(__file__).parents[3]
NPM_PLACES = ("/usr/lib/node_modules", "/usr/local/lib/node_modules", os.environ.get("TURNOUT_NPM", ""))
AXE_PLACES = [ROOT / ".npm/node_modules", *(Path(each) for each in NPM_PLACES if each)]
PAGES: dict[str, tuple[str, list[str]]] = {
    "sessions": ("/sessions", ["Why does parse keep blanks", "kimi:kimi-k2.5", "5 turns"]),
    "session groups": ("/sessions?group=provider&words=hello", ["By provider", "gemini", "all"]),
    "requests": (
        "/requests",
        ["claude-cli/2.1.40", "openrouter:anthropic/claude-sonnet-4.5", "429", "2.40 s"],
    ),
    "request groups": ("/requests?group=client", ["By client", "owner", "ci"]),
    "conversation": (
        "/sessions/repair",
        ["I will read it", "Switched to openai:gpt-5.1", "3 calls ran"],
    ),
    "request": ("/requests/req_000067", ["As it came", "As we read it", "As it was sent", "missing_result"]),
    "as another": ("/sessions/repair/as/gemini:gemini-2.5-pro", ["accepts it", "Against kimi:kimi-k2.5"]),
    "numbers": ("/numbers?days=3650", ["by client key", "by provider", "tool calls", "$1.2160"]),
    "waiting": ("/waiting", ["git clean -fdx", "Yes, run it once", "Give this result"]),
    "long id": (f"/sessions/{LONG_ID}", ["Hello."]),
    "nothing found": ("/sessions?words=nothing-like-this", ["No session fits"]),
    "a problem": ("/sessions/not-there", ["This page cannot be shown"]),
}
AXE_PAGES = ("requests", "conversation", "request", "as another", "numbers")
MODES = [(scripts, width) for scripts in (False, True) for width in (380, 1280)]


class Visit(Struct):
    """A browser that has signed in to the pages of a filled store."""

    browser: Chromium
    made: Shown
    base: str

    def tab(self, **options: Any) -> Tab:
        tab = Tab(self.browser, **options)
        tab.open(f"{self.base}/?once={self.made.pages.sign_in.make_link()}")
        return tab


@pytest.fixture(scope="module")
def visit() -> Iterator[Visit]:
    with running_chromium() as browser, tempfile.TemporaryDirectory() as folder, shown(Path(folder)) as made:
        fill_gallery(made)
        with viewing(made) as base:
            yield Visit(browser, made, base)


def check_in_tab(tab: Tab, base: str, is_problem: bool = False) -> None:
    """What holds of every page."""
    said = [text for text in tab.complaints() if not (is_problem and "404" in text)]
    assert not said
    assert all(url.startswith((base, "data:")) for url in tab.asked()), tab.asked()
    assert tab.value("document.documentElement.scrollWidth <= window.innerWidth")
    assert tab.value(ACCESSIBILITY) == []


@pytest.mark.parametrize(("scripts", "width"), MODES)
def test_every_page_reads_well(visit: Visit, scripts: bool, width: int) -> None:
    """Content, a quiet console, nothing from elsewhere, no horizontal scroll, no accessibility finding."""
    tab = visit.tab(scripts=scripts, width=width)
    for name, (url, words) in PAGES.items():
        tab.open(visit.base + url)
        text = tab.value("document.body.innerText")
        assert all(word in text for word in words), (name, text)
        check_in_tab(tab, visit.base, name == "a problem")
    tab.close()


def test_dark_pages_have_contrast_too(visit: Visit) -> None:
    """The colours of a dark page are others, and each of them can be read."""
    tab = visit.tab(dark=True)
    for url, _ in PAGES.values():
        tab.open(visit.base + url)
        tab.value("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        assert tab.value("getComputedStyle(document.documentElement).backgroundColor") == "rgb(22, 22, 21)"
        assert tab.value(ACCESSIBILITY) == [], url
    tab.close()


AXE_RUN = """axe.run().then((done) => done.violations.map((each) =>
  [each.impact, each.id, each.nodes.map((node) => node.html).join(" ")]))"""


def test_axe_has_no_serious_finding(visit: Visit) -> None:
    """The accessibility checker of the field agrees, on pages 1 to 5, light and dark, small and wide."""
    files = [place / "axe-core/axe.min.js" for place in AXE_PLACES]
    found = next((file for file in files if file.exists()), None)
    if found is None:
        pytest.skip("axe-core is not installed (`make servers`)")
    tab = visit.tab()
    checked = PAGES if SOAK else {name: PAGES[name] for name in AXE_PAGES}
    for at, (url, _) in enumerate(checked.values()):
        tab.resize((380, 1280)[at % 2])
        tab.colours(("light", "dark")[at // 2 % 2])
        tab.open(visit.base + url)
        tab.value("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        tab.value(found.read_text() + "; true")
        problems = tab.value(AXE_RUN)
        assert not [each for each in problems if each[0] in ("serious", "critical")], (url, problems)
    tab.close()


def test_links_lead_to_pages(visit: Visit) -> None:
    """Every link that a browser finds on a page is an address that answers."""
    tab = visit.tab()
    links: set[str] = set()
    for url, _ in PAGES.values():
        tab.open(visit.base + url)
        links |= set(tab.value("[...document.querySelectorAll('a[href^=\"/\"]')].map((each) => each.href)"))
    tab.close()
    assert len(links) > 60
    for link in sorted(links)[:: 1 if SOAK else 4]:
        assert visit.made.ask(link.removeprefix(visit.base).partition("#")[0]).status in (200, 303), link


def test_new_requests_appear_while_one_looks(visit: Visit) -> None:
    """A list asks for its next state, and shows it without a reload."""
    tab = visit.tab()
    tab.open(f"{visit.base}/requests")
    visit.made.memory.add_request(request_record(900, agent="late-client/1", time=1_790_900_000.0))
    visit.made.memory.flush()
    tab.wait_until("document.body.innerText.includes('late-client/1')")
    assert not tab.complaints()
    tab.close()


def test_an_open_session_is_followed(visit: Visit) -> None:
    """What a process says in a session appears on its page, and what a reader opened stays open."""
    history = visit.made.store.open("followed")
    history.user("Hello")
    history.reply("openai:m", "First words")
    visit.made.store.journal("followed").commit()
    tab = visit.tab()
    tab.open(f"{visit.base}/sessions/followed")
    assert tab.value("document.querySelectorAll('article').length") == 2
    history.user("And then the second question")
    visit.made.store.journal("followed").commit()
    tab.wait_until("document.body.innerText.includes('And then the second question')")
    assert tab.value("document.querySelectorAll('article').length") == 3 and not tab.complaints()
    visit.made.store.release("followed")
    tab.wait_until("document.body.innerText.includes('No process has this session open')")
    tab.close()


def test_the_keyboard_reaches_everything(visit: Visit) -> None:
    """The first stop skips the navigation; the stops follow the page, and each one can be seen."""
    tab = visit.tab()
    tab.open(f"{visit.base}/sessions/repair")
    stops = []
    for _ in range(9):
        tab.press("Tab", 9)
        stops.append(tab.value("document.activeElement.textContent.trim().split('\\n')[0]"))
        assert tab.value("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert stops[:5] == ["Skip to the content", "Sessions", "Requests", "Waiting", "Numbers"]
    assert stops[5] == "Go on, or show it as another provider"
    tab.open(f"{visit.base}/sessions/repair")
    tab.press("Tab", 9)
    tab.press("Enter", 13, "\r")
    assert tab.value("document.activeElement.id") == "main"
    tab.close()


def test_a_form_answers_without_scripts(visit: Visit) -> None:
    """No, with a reason, given in a browser whose scripts are off."""
    tab = visit.tab(scripts=False)
    tab.open(f"{visit.base}/waiting")
    tab.value("document.querySelector('form input[name=text]').value = 'not in this folder'")
    tab.value("document.querySelector('button[value=no]').click()")
    tab.wait_until("document.body.innerText.includes('Answered; it takes effect')")
    (answered,) = [call for call in visit.made.store.waiting_calls() if call.answered]
    assert answered.name == "shell"
    tab.close()


def test_the_token_signs_in_by_the_form(visit: Visit) -> None:
    """A browser without a cookie is led to the form; the gateway's token in it opens the pages."""
    tab = Tab(visit.browser, scripts=False)
    tab.open(f"{visit.base}/sessions")
    assert tab.value("document.querySelector('h1').textContent") == "Sign in"
    check_in_tab(tab, visit.base)
    tab.value(f"document.querySelector('input[name=token]').value = '{TOKEN}'")
    tab.value("document.querySelector('main button').click()")
    tab.wait_until("document.querySelector('h1')?.textContent === 'Sessions'")
    tab.close()


LOOK = """[...document.querySelectorAll(".conversation *")].map((each) => {
  const style = getComputedStyle(each), box = each.getBoundingClientRect();
  return [each.tagName, each.className.toString(), Math.round(box.width), Math.round(box.height),
    style.color, style.backgroundColor, style.fontSize, style.fontFamily, style.borderLeftColor].join(" ");
})"""


@pytest.mark.parametrize("width", [380, 1280])
def test_an_export_looks_like_its_page(visit: Visit, width: int, tmp_path: Path) -> None:
    """Opened as a file, each element of the conversation has the size and the colours that the page has."""
    file = tmp_path / "conversation.html"
    file.write_text(visit.made.text("/sessions/repair/export.html"))
    tab = visit.tab(width=width)
    tab.open(f"{visit.base}/sessions/repair")
    tab.wait_until("[...document.images].every((each) => each.complete)")
    page = tab.value(LOOK)
    tab.open(file.as_uri())
    tab.wait_until("[...document.images].every((each) => each.complete)")
    assert tab.value(LOOK) == page and len(page) > 100
    assert not tab.complaints() and tab.asked()[0] == file.as_uri()
    assert all(url.startswith(("file:", "data:")) for url in tab.asked())
    assert tab.value(ACCESSIBILITY) == []
    tab.close()


def test_hostile_texts_do_nothing_in_a_browser(tmp_path: Path, visit: Visit) -> None:
    """Every hostile text in every field of a conversation: nothing runs, is loaded, or scrolls sideways."""
    with shown(tmp_path) as made, viewing(made) as base:
        made.store.add(hostile_history("h", *(text[:1500] for text in HOSTILE)))
        tab = Tab(visit.browser, width=380)
        tab.open(f"{base}/?once={made.pages.sign_in.make_link()}")
        place, seen = f"{base}/sessions/h?from=1", 0
        while place:
            tab.open(place)
            said = [text for text in tab.complaints() if "404" not in text]
            assert not said and tab.value("document.title").startswith(("<script>", "&lt;")), said
            assert all(each.startswith((base, "data:")) for each in tab.asked()), tab.asked()
            assert tab.value("document.documentElement.scrollWidth <= window.innerWidth"), place
            seen += tab.value("document.querySelectorAll('article').length")
            place = tab.value("document.querySelector('a[rel=next]')?.href")
        assert seen == 3 * len(HOSTILE)
        tab.close()
