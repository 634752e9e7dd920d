"""Output: what a model is shown of too much, and where the rest lies."""

from __future__ import annotations

import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.errors import UsageError
from turnout.model import Media, Outcome, Text
from turnout.tools.confine.output import (
    Capture,
    HeadTail,
    SavedOutput,
    readable,
    shares,
    truncate_text,
    within_budget,
)

sizes = st.lists(st.integers(0, 5_000), min_size=1, max_size=20)


@given(sizes, st.integers(0, 20_000))
def test_shares_spend_the_budget_and_never_more(sizes: list[int], budget: int) -> None:
    """Nobody gets more than he has, the sum stays within the budget, and none of it is wasted."""
    given = shares(sizes, budget)
    assert all(got <= size for got, size in zip(given, sizes, strict=True))
    assert sum(given) <= budget
    assert given == sizes or sum(given) > budget - len(sizes)


@given(sizes, st.integers(0, 20_000))
def test_a_larger_result_never_gets_less(sizes: list[int], budget: int) -> None:
    """What is cut is cut alike: only small results get less, because they are small."""
    pairs = sorted(zip(sizes, shares(sizes, budget), strict=True))
    assert [got for _, got in pairs] == sorted(got for _, got in pairs)


def test_ten_large_results_share_one_budget() -> None:
    """Ten results of 200,000 characters cost what the budget says; a small one among them stays whole."""
    batch = [Outcome("complete", "x" * 200_000) for _ in range(10)] + [Outcome("complete", "small")]
    cut = within_budget(batch, 100_000)
    assert cut[-1].text == "small"
    assert sum(len(outcome.text) for outcome in cut) < 102_000
    assert all(9_900 < len(outcome.text) < 10_200 for outcome in cut[:-1])


def test_cut_results_name_the_file_that_holds_the_whole(tmp_path: Path) -> None:
    """The model can go and read it."""
    saved = SavedOutput(tmp_path / "saved")
    text = "\n".join(f"line {number}" for number in range(10_000))
    (cut,) = within_budget([Outcome("error", text)], 1_000, save=saved.save)
    (path,) = (tmp_path / "saved").iterdir()
    assert cut.status == "error"
    assert cut.text.startswith("line 0\n")
    assert cut.text.endswith("line 9999")
    assert str(path) in cut.text
    assert path.read_text() == text


def test_pictures_are_not_counted_and_not_cut() -> None:
    """A budget of characters is for text; an image beside it stays."""
    picture = Media("image/png", data="A" * 1000)
    (cut,) = within_budget([Outcome("complete", (Text("y" * 5_000), picture))], 100)
    assert cut.content[1] == picture
    assert len(cut.content[0].text) < 300  # type: ignore[union-attr]


def many_blocks(count: int) -> Outcome:
    return Outcome("complete", tuple(Text(f"block {at}" + "." * 30) for at in range(count)))


def test_a_thousand_small_blocks_are_cut_as_one(tmp_path: Path) -> None:
    """One mark, one file and the limit; the pictures among them stay, behind the text."""
    picture = Media("image/png", data="AA==")
    many = Outcome("complete", (picture, *many_blocks(5_000).content, picture))
    saved = SavedOutput(tmp_path / "saved")
    (cut,) = within_budget([many], each=10_000, save=saved.save)
    assert [type(block) for block in cut.content] == [Text, Media, Media]
    assert 9_000 < len(cut.text) < 10_300 and cut.text.count("left out") == 1
    assert cut.text.startswith("block 0.") and "block 4999" in cut.text
    (path,) = (tmp_path / "saved").iterdir()
    assert path.read_text() == many.text


def test_time_grows_with_the_number_of_blocks_and_no_faster(tmp_path: Path) -> None:
    """Four times the blocks, about four times the time."""
    saved = SavedOutput(tmp_path / "saved")

    def seconds(count: int) -> float:
        many = many_blocks(count)
        started = time.process_time()
        within_budget([many], each=10_000, save=saved.save)
        return time.process_time() - started

    seconds(1_000)
    assert min(seconds(40_000) for _ in range(3)) < 8 * min(seconds(10_000) for _ in range(3)) + 0.05


def test_the_number_of_saved_files_is_bounded(tmp_path: Path) -> None:
    """The oldest make room, and each name is used once."""
    saved = SavedOutput(tmp_path / "saved", files=3)
    paths = [Path(saved.save(f"text {at}")) for at in range(10)]
    assert len(set(paths)) == 10
    assert [path.exists() for path in paths] == [False] * 7 + [True] * 3


def test_many_threads_save_at_once(tmp_path: Path) -> None:
    """Each gets a file of its own, and the bound holds."""
    saved = SavedOutput(tmp_path / "saved", files=300)
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(saved.save, [f"text {at}" for at in range(1_000)]))
    assert all(paths) and len(set(paths)) == 1_000
    assert len(list((tmp_path / "saved").iterdir())) == 300


@given(st.text(), st.integers(0, 50))
def test_a_clipped_text_keeps_both_ends(text: str, limit: int) -> None:
    """Short texts stay as they are; of long ones no more than the limit is kept."""
    result = truncate_text(text, limit)
    if len(text) <= limit:
        assert result == text
    else:
        head, _, tail = result.partition("[… ")
        assert text.startswith(head.removesuffix("\n"))
        assert text.endswith(tail.partition(" …]\n")[2])


@given(st.lists(st.binary(max_size=40), max_size=40), st.integers(1, 100))
def test_what_is_kept_does_not_depend_on_how_the_bytes_were_cut(chunks: list[bytes], limit: int) -> None:
    """Fed in pieces or at once, the same ends remain; nothing is lost below the limit."""
    pieces, whole = HeadTail(limit), HeadTail(limit)
    for chunk in chunks:
        pieces.feed(chunk)
    whole.feed(b"".join(chunks))
    assert pieces.both_ends() == whole.both_ends()
    assert pieces.size == whole.size == len(b"".join(chunks))
    if not pieces.left_out:
        assert b"".join(pieces.both_ends()) == b"".join(chunks)
    assert sum(map(len, pieces.both_ends())) <= limit


def test_the_gap_cuts_no_character_in_two() -> None:
    """At every alignment of the cut the text around it holds whole characters only."""
    for limit in range(40, 60):
        ends = HeadTail(limit)
        ends.feed("äöü€😀".encode() * 50)
        assert "�" not in ends.text()


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link", "text link"),
        (b"10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        (b"nul\0 bell\x07 back\x08", "nul bell back"),
        (b"not \xff utf-8 \xed\xa0\x80", "not � utf-8 ���"),
        ("\x9b31mC1\x9b0m".encode(), "C1"),
        (b"\x1b]unterminated\nnext", "\nnext"),
        (b"tab\there", "tab\there"),
    ],
)
def test_printed_bytes_become_plain_text(printed: bytes, read: str) -> None:
    """No colours, titles, links or controls; a progress bar shows where it ended."""
    assert readable(printed) == read


@given(st.binary())
def test_readable_text_holds_no_control_and_can_be_sent(data: bytes) -> None:
    """Whatever was printed."""
    text = readable(data)
    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in text)
    text.encode()


@pytest.mark.parametrize("unit", [b"\x1b[", b"\x1b]", b"\x9b1;", b"x", b"\r", b"1;", b"\x1b[1;1;1;"])
def test_hostile_output_is_read_in_linear_time(unit: bytes) -> None:
    """A megabyte of half an escape sequence costs no more than a moment."""
    started = time.process_time()
    readable(b"\r\x1b[" + unit * (1_000_000 // len(unit)))
    assert time.process_time() - started < 2


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_saved_output_is_private(tmp_path: Path, umask: int) -> None:
    """0600 in a 0700 folder, whatever the umask."""
    before = os.umask(umask)
    try:
        path = SavedOutput(tmp_path / "deep/saved").save("secret")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(tmp_path / "deep/saved").st_mode) == 0o700


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    """It may be anything, a home too. What is saved in it is private all the same."""
    (tmp_path / "saved").mkdir(mode=0o755)
    path = SavedOutput(tmp_path / "saved").save("secret")
    assert stat.S_IMODE(os.stat(tmp_path / "saved").st_mode) == 0o755
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    """They could put links where the output goes."""
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved").chmod(0o777)
    with pytest.raises(UsageError, match="only you can write"):
        SavedOutput(tmp_path / "saved")


def test_a_folder_that_is_a_link_is_no_private_folder(tmp_path: Path) -> None:
    """A planted link would choose where the output goes."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "saved").symlink_to("elsewhere")
    with pytest.raises(UsageError):
        SavedOutput(tmp_path / "saved")


def test_saved_output_is_bounded(tmp_path: Path) -> None:
    """Each file has a limit, and the oldest make room for the newest."""
    saved = SavedOutput(tmp_path / "saved", file_limit=1_000, total_limit=5_000)
    paths = [saved.save("z" * 3_000) for _ in range(20)]
    left = list((tmp_path / "saved").iterdir())
    assert sum(path.stat().st_size for path in left) <= 5_000
    assert os.path.exists(paths[-1])
    saved.clear()
    assert not list((tmp_path / "saved").iterdir())


def test_a_capture_saves_only_what_overflows(tmp_path: Path) -> None:
    """Short output makes no file; of long output the file holds the start, up to its limit."""
    saved = SavedOutput(tmp_path / "saved", file_limit=50_000)
    short = Capture(saved, limit=1_000)
    short.feed(b"hello\n")
    assert (short.close().text, list((tmp_path / "saved").iterdir())) == ("hello\n", [])

    for total, kept in ((20_000, 20_000), (200_000, 50_000)):
        data = os.urandom(total // 2).hex().encode()
        long = Capture(saved, limit=1_000)
        for start in range(0, total, 777):
            long.feed(data[start : start + 777])
        captured = long.close()
        assert (captured.size, captured.saved) == (total, kept)
        assert Path(captured.path).read_bytes() == data[:kept]
        assert captured.path in captured.text
        assert len(captured.text) < 1_400
