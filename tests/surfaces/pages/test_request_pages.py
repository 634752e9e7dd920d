"""One request: three columns that name the same calls, why the cache missed, and a curl without a key."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.surfaces.pages.shown import BODY, KEY, SENT, request_record, shown

from turnout.surfaces.pages.request_pages import common_prefix


def test_the_three_columns_name_the_same_calls(tmp_path: Path) -> None:
    """The ids of the client, of the history and of the target link to the same call."""
    with shown(tmp_path) as made:
        made.add_requests(1)
        page = made.text("/requests/req_000001")
        anchors = {part.partition('"')[0] for part in page.split('<li id="')[1:]}
        links = {part.partition('"')[0] for part in page.split('class="call-id" href="#')[1:]}
        assert len(anchors) == 2 and links <= anchors and links
        assert "made by turnout" in page  # call_B never got a result


def test_what_the_provider_would_say_is_shown(tmp_path: Path) -> None:
    """The messages as they came break a rule of the target; its name and its words are on the page."""
    with shown(tmp_path) as made:
        made.add_requests(1)
        page = made.text("/requests/req_000001")
        assert "tool_use" in page and "<blockquote>" in page


def test_curl_names_the_variable_and_no_key(tmp_path: Path) -> None:
    """The command can be pasted anywhere: the key is a variable, private state is left out."""
    with shown(tmp_path) as made:
        made.add_requests(1)
        page = made.text("/requests/req_000001")
        assert "https://api.anthropic.com/v1/messages \\" in page
        assert "x-api-key: $ANTHROPIC_API_KEY" in page and KEY not in page and "S" * 50 not in page


def test_the_byte_where_the_prefix_left_the_request_before(tmp_path: Path) -> None:
    """Two requests of one conversation that differ in the middle: the page says at which byte."""
    with shown(tmp_path) as made:
        for number, word in ((1, "folder"), (2, "house")):
            sent = json.dumps(SENT).replace("folder", word)
            bodies = json.dumps({"received": json.dumps(BODY), "sent": sent}).encode()
            record = request_record(number, conversation="same", target="kimi:kimi-k2.5")
            made.memory.add_request(record, bodies)
        made.memory.flush()
        at = json.dumps(SENT).index("folder")
        assert f"The first {at} of" in made.text("/requests/req_000002")


def test_a_cache_of_another_provider_is_not_compared_with(tmp_path: Path) -> None:
    """After a switch the cache is another one; back at the first target the last one there is compared."""
    with shown(tmp_path) as made:
        bodies = json.dumps({"received": json.dumps(BODY), "sent": json.dumps(SENT)}).encode()
        for number, target in enumerate(("kimi:kimi-k2.5", "openai:gpt-5.1", "kimi:kimi-k2.5"), 1):
            made.memory.add_request(request_record(number, conversation="same", target=target), bodies)
        made.memory.flush()
        assert "each has its own cache" in made.text("/requests/req_000002")
        back = made.text("/requests/req_000003")
        assert "It only grew" in back and 'href="/requests/req_000001"' in back


def test_repairs_shown_are_those_of_the_record(tmp_path: Path) -> None:
    """The list, the page and the report of a request have the same number of repairs."""
    with shown(tmp_path) as made:
        made.add_requests(5)
        for number in range(1, 6):
            report = json.loads(made.text(f"/requests/req_{number:06}.json"))
            page = made.text(f"/requests/req_{number:06}")
            assert re.search(rf"<h2>{report['repairs']} repairs?</h2>", page)
            assert page.count("<li><code>missing_result</code>") == report["repairs"]


@given(st.binary(max_size=60), st.binary(max_size=20), st.binary(max_size=20))
def test_a_common_prefix_is_the_longest(start: bytes, one: bytes, other: bytes) -> None:
    """It is a prefix of both, and one byte more is not."""
    first, second = start + one, start + other
    at = common_prefix(first, second)
    assert first[:at] == second[:at] and at >= len(start)
    assert at == min(len(first), len(second)) or first[at] != second[at]
