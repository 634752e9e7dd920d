"""Pasted texts and images: a sign in the input line, the whole when it is sent."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from turnout.model import Media, Text
from turnout.surfaces.terminal.pasted import PastedParts, dropped_path

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def test_a_long_paste_is_a_sign_and_is_sent_whole() -> None:
    """`[pasted 200 lines]` stands for the text, in the middle of a sentence too."""
    pasted, text = PastedParts(), "\n".join(f"line {n}" for n in range(200))
    sign = pasted.sign_for_text(text)
    assert sign == "[pasted 200 lines]"
    assert pasted.blocks_of(f"Explain {sign} please") == (Text(f"Explain {text} please"),)


@given(st.lists(st.text(min_size=1), max_size=8))
def test_nothing_pasted_is_lost_or_mixed_up(texts: list[str]) -> None:
    """Different texts have different signs; each sign gives back its own text."""
    pasted = PastedParts()
    texts = [text.replace("[", "(") for text in texts]
    signs = [pasted.sign_for_text(text * 40 + "\n" * 12) for text in texts]
    assert len(set(signs)) == len(set(texts))
    for sign, text in zip(signs, texts, strict=True):
        assert pasted.whole_text(sign) == text * 40 + "\n" * 12


def test_short_pastes_and_unknown_signs_stay_as_they_are() -> None:
    """A sign that the user typed means nothing."""
    pasted = PastedParts()
    assert pasted.sign_for_text("two\nlines") == "two\nlines"
    assert pasted.blocks_of("[pasted 7 lines]") == (Text("[pasted 7 lines]"),)


def test_an_image_goes_with_the_prompt() -> None:
    """The sign stays in the text, so that the user can speak of it; other data is not an image."""
    pasted = PastedParts()
    sign = pasted.sign_for_image(PNG, "shot.png")
    words, image = pasted.blocks_of(f"What is in {sign}?")
    assert words == Text("What is in [image shot.png]?")
    assert isinstance(image, Media) and image.mime == "image/png"
    assert pasted.sign_for_image(b"plain text", "a.txt") == ""


def test_a_dropped_file_is_found_in_each_spelling(tmp_path: Path) -> None:
    """Terminals paste the path of a dropped file: bare, quoted, escaped, or as a URL."""
    path = tmp_path / "my shot.png"
    path.write_bytes(PNG)
    url = "file://" + str(path).replace(" ", "%20")
    for pasted in (str(path), f"'{path}'", f'"{path}" ', str(path).replace(" ", "\\ "), url):
        assert dropped_path(pasted) == path, pasted
    for other in ("", "my shot.png", "/no/such/file.png", "a\nb", str(tmp_path), "\0"):
        assert dropped_path(other) is None
