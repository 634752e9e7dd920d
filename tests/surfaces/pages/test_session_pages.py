"""The list of sessions, one conversation, and its export."""

from __future__ import annotations

import re
from pathlib import Path

from tests.surfaces.pages.shown import sample_history, shown

from turnout import History, ModelTurn, Origin, Text


def test_a_conversation_can_be_read_without_scripts(tmp_path: Path) -> None:
    """What was said, each call, its outcome and the marks are in the page as it is sent."""
    with shown(tmp_path) as made:
        made.store.add(sample_history(), title="Blanks")
        page = made.text("/sessions/sample")
        for text in (
            "<strong>parse</strong>",
            "read_file",
            "1 failed",
            "made by turnout: stopped",
            "Switched to openai:gpt-5.1",
        ):
            assert text in page, text
        assert '<span class="add">+    return text.strip()</span>' in page
        assert "<summary>Thinking</summary>" in page and "turnout -r sample" in page
        assert 'src="/sessions/sample/media/1/1"' in page
        assert made.ask("/sessions/sample/media/1/1").headers["content-type"] == "image/png"


def test_a_first_screen_is_small(tmp_path: Path) -> None:
    """A conversation of 1,000 turns: the first page is at most 300 kB, and leads to the rest."""
    with shown(tmp_path) as made:
        history = History("long")
        for number in range(500):
            history.user("question " * 200)
            history.reply("openai:m", f"answer {number}: " + "words and `code` " * 300)
        made.store.add(history)
        page = made.text("/sessions/long")
        assert len(page) <= 300_000 and "answer 499" in page
        earlier = re.search(r'rel="prev" href="([^"]+)"', page)
        assert earlier and "answer 499" not in made.text(earlier[1])


def test_an_export_is_one_file_that_looks_the_same(tmp_path: Path) -> None:
    """It holds the turns and the style of the page, the pictures themselves, and loads nothing."""
    with shown(tmp_path) as made:
        made.store.add(sample_history())
        page, export = made.text("/sessions/sample"), made.text("/sessions/sample/export.html")
        assert 'src="data:image/png;base64,' in export and "default-src &#39;none&#39;" in export
        assert not re.search(r'(?:src|href)="/', export)
        marks = [re.findall(r'<article class="[^"]*" id="[^"]*"', text) for text in (page, export)]
        assert marks[0] == marks[1] and len(marks[0]) == 5


def test_groups_are_the_sums_of_their_sessions(tmp_path: Path) -> None:
    """The turns of all groups are the turns of all sessions."""
    with shown(tmp_path) as made:
        for number in range(7):
            history = History(f"s{number}")
            for _ in range(number + 1):
                history.user("a")
                history.reply(f"{'openai' if number % 2 else 'kimi'}:m", "b")
            made.store.add(history)
        page = made.text("/sessions?group=provider")
        turns = sum(line.turns for line in made.store.list())
        foot = page[page.index("<tfoot>") : page.index("</tfoot>")]
        assert f'<td class="n">{turns}</td>' in foot


def test_a_session_with_slashes_in_its_id_is_found(tmp_path: Path) -> None:
    """Ids of the gateway's clients hold slashes, and so do names of models."""
    with shown(tmp_path) as made:
        made.store.add(sample_history("ci/abc"))
        assert "As openrouter:anthropic/x" in made.text("/sessions/ci%2Fabc/as/openrouter:anthropic/x")


def test_a_live_session_follows_its_end(tmp_path: Path) -> None:
    """While a process has a session open, its page names where the next state is, and that state grows."""
    with shown(tmp_path) as made:
        history = made.store.open("live")
        history.user("Hello")
        history.reply("openai:m", "First")
        made.store.journal("live").commit()
        page = made.text("/sessions/live")
        place = re.search(r'data-live="([^"]+)"', page)
        assert place and "open now" in page
        history.user("And then?")
        made.store.journal("live").commit()
        assert "And then?" in made.text(place[1])


def test_a_reply_is_shown_while_it_is_written(tmp_path: Path) -> None:
    """The stored draft of a reply is at the end of the live part, as text, until the reply is there."""
    with shown(tmp_path) as made:
        history = made.store.open("live")
        history.user("Hello")
        journal = made.store.journal("live")
        journal.commit()
        turn = ModelTurn(history.next_key(), Origin("openai", "", "m"), (Text("Half of an <b>answer"),))
        journal.draft(turn)
        part = made.text("/sessions/live/live?from=1")
        assert "is being written" in part and "Half of an &lt;b&gt;answer" in part
        history.append(turn)
        journal.draft(None)
        journal.commit()
        part = made.text("/sessions/live/live?from=1")
        assert "is being written" not in part and "Half of an" in part


def test_a_group_leads_to_its_sessions(tmp_path: Path) -> None:
    """The name of a client or a provider is a link to the list of its sessions, and of no others."""
    with shown(tmp_path) as made:
        for key, target in (("ci/one", "openai:m"), ("ci/two", "kimi:m"), ("plain", "kimi:m")):
            history = History(key)
            history.user(f"I am {key}")
            history.reply(target, "x")
            made.store.add(history)
        assert 'href="/sessions?client=ci"' in made.text("/sessions?group=client")
        listed = made.text("/sessions?client=ci")
        assert "I am ci/one" in listed and "I am ci/two" in listed and "I am plain" not in listed
        assert 'href="/sessions?provider=kimi"' in made.text("/sessions?group=provider")
        assert "I am ci/one" not in made.text("/sessions?provider=kimi&client=ci")
