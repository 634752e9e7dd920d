"""apply_patch: several files in one step, all or none, in either way of writing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnout.model import Outcome, ToolCall
from turnout.tools.builtin import apply_patch
from turnout.tools.builtin.patch_format import Hunk, PatchError, apply_hunks, parse_patch
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.registry import Registry
from turnout.tools.policy.rules import Policy, Rule
from turnout.tools.schedule.admission import Admitted, admit_call

Call = Callable[..., Outcome]

MARKED = """\
*** Begin Patch
*** Update File: a.py
@@ def main():
     one()
-    two()
+    zwei()
     three()
*** Add File: new/b.py
+print("hi")
+
+print("there")
*** Delete File: old.py
*** Update File: here.py
*** Move to: there.py
@@
-x
+y
*** End Patch
"""


@pytest.fixture
def project(root: Path) -> Path:
    (root / "a.py").write_text("def main():\n    one()\n    two()\n    three()\n\ndef other():\n    two()\n")
    (root / "old.py").write_text("gone\n")
    (root / "here.py").write_text("x\n")
    return root


def files(root: Path) -> dict[str, str]:
    found = [path for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): path.read_bytes().decode() for path in found}


def test_one_patch_changes_adds_deletes_and_moves(call: Call, project: Path) -> None:
    """And the answer names each."""
    outcome = call(apply_patch, patch=MARKED)
    assert outcome.text == (
        "Applied the patch: changed a.py, added new/b.py, deleted old.py, moved here.py to there.py"
    )
    assert files(project) == {
        "a.py": "def main():\n    one()\n    zwei()\n    three()\n\ndef other():\n    two()\n",
        "new/b.py": 'print("hi")\n\nprint("there")\n',
        "there.py": "y\n",
    }


def test_a_unified_diff_does_the_same(call: Call, project: Path) -> None:
    """As git writes it, with line numbers that are a little off."""
    patch = (
        "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -5,3 +5,3 @@ def other\n"
        " \n def other():\n-    two()\n+    zwei()\n"
        "diff --git a/new.txt b/new.txt\nnew file\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n"
        "+one\n+two\n\\ No newline at end of file\n"
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    )
    assert call(apply_patch, patch=patch).status == "complete"
    found = files(project)
    assert found["a.py"].endswith("two()\n    three()\n\ndef other():\n    zwei()\n")
    assert found["new.txt"] == "one\ntwo"
    assert "old.py" not in found


@pytest.mark.parametrize(
    ("patch", "answer"),
    [
        ("nonsense", "it holds no change"),
        ("*** Begin Patch\n*** Update File: a.py\n-x\n", "does not end with '*** End Patch'"),
        ("*** Begin Patch\n*** Frobnicate: a.py\n*** End Patch", "is not a section"),
        ("*** Begin Patch\n*** Add File: n\nline\n*** End Patch", "must begin with '+'"),
        ("*** Begin Patch\n*** Update File: a.py\n@@\n-nowhere\n*** End Patch", "hunk 1 does not fit"),
        (
            "*** Begin Patch\n*** Update File: a.py\n@@\n-    two()\n+x\n*** End Patch",
            "fits at 2 places (lines 3, 7)",
        ),
        ("*** Begin Patch\n*** Update File: no.py\n@@\n-x\n*** End Patch", "no.py does not exist"),
        ("*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch", "it exists already"),
        (
            "*** Begin Patch\n*** Update File: here.py\n*** Move to: a.py\n@@\n-x\n*** End Patch",
            "exists already",
        ),
        ("*** Begin Patch\n*** Delete File: ../x\n*** End Patch", "leads out"),
        ("*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch", "leads out"),
        ("*** Begin Patch\n*** Add File: .git/hooks/x\n+x\n*** End Patch", "is protected"),
        ("*** Begin Patch\n*** Delete File: a.py\n*** Delete File: ./a.py\n*** End Patch", "names it twice"),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(
    call: Call, project: Path, patch: str, answer: str
) -> None:
    """The answer names the file and what is wrong with it, even when the first part would have fitted."""
    before = files(project)
    whole = patch.replace("*** Begin Patch\n", "*** Begin Patch\n*** Add File: first.txt\n+first\n")
    for each in (patch, whole):
        outcome = call(apply_patch, patch=each)
        assert outcome.status == "error"
        assert answer in outcome.text
        assert files(project) == before


def test_what_was_written_is_put_back_when_the_rest_fails(
    call: Call, ctx: ToolContext, project: Path
) -> None:
    """The disk fills up in the middle, say."""
    before = files(project)
    real, count = ctx.workspace.write, 0

    def failing(path: str, data: bytes, **options: object) -> bool:
        nonlocal count
        count += 1
        if count == 2:
            raise OSError(28, os.strerror(28), path)
        return real(path, data, **options)  # type: ignore[no-any-return]

    ctx.workspace.write = failing
    outcome = call(apply_patch, patch=MARKED)
    assert "the disk is full" in outcome.text and outcome.text.endswith("Nothing was changed.")
    ctx.workspace.write = real
    assert files(project) == before


def test_line_endings_and_encoding_stay(call: Call, root: Path) -> None:
    """New lines end as the file's do; bytes that were not touched stay as they were."""
    (root / "w.txt").write_bytes("\ufeffone\r\ntwo \r\nthree\r\nlone\nend".encode())
    patch = "*** Begin Patch\n*** Update File: w.txt\n@@\n two\n-three\n+drei\n+vier\n*** End Patch\n"
    assert call(apply_patch, patch=patch).status == "complete"
    assert (root / "w.txt").read_bytes() == "\ufeffone\r\ntwo \r\ndrei\r\nvier\r\nlone\nend".encode()


def test_policy_sees_every_path_and_asks_before_a_deletion() -> None:
    """A rule against a path holds inside a patch, and deleting is more than writing."""

    def verdict(patch: str, policy: Policy) -> str:
        admitted = admit_call(ToolCall("c", "apply_patch", {"patch": patch}), Registry([apply_patch]), policy)
        assert isinstance(admitted, Admitted)
        return admitted.verdict.effect

    adds = "*** Begin Patch\n*** Add File: a\n+x\n*** Add File: conf/.env\n+x\n*** End Patch"
    assert verdict(adds, Policy("auto-edit")) == "allow"
    assert verdict(adds, Policy("auto-edit", (Rule("deny", path="*.env"),))) == "deny"
    assert verdict(MARKED, Policy("auto-edit")) == "ask"


texts = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(texts, texts)
def test_what_diff_writes_gives_the_new_text(old: list[str], new: list[str]) -> None:
    """For any two texts: the patch between them, made by difflib, applied to the first gives the second."""
    import difflib

    text = "\n".join(difflib.unified_diff(old, new, "a/f", "b/f", lineterm="", n=50))
    if not text:
        return
    (change,) = parse_patch(text)
    assert apply_hunks(old, change.hunks) == new


@settings(max_examples=200)
@given(st.text(alphabet="*@+- \nabBegin Patch:/File", max_size=200))
def test_reading_a_patch_never_fails_otherwise(text: str) -> None:
    """It is a list of changes or a problem in words."""
    try:
        assert parse_patch(text)
    except PatchError as error:
        assert str(error)


def test_a_hunk_without_old_lines_goes_where_it_says() -> None:
    """Behind its anchor, at its line, or at the end."""
    lines = ["a", "b", "c"]
    assert apply_hunks(lines, [Hunk((), ("x",))]) == ["a", "b", "c", "x"]
    assert apply_hunks(lines, [Hunk((), ("x",), anchor="a")]) == ["a", "x", "b", "c"]
    assert apply_hunks(lines, [Hunk((), ("x",), line=2)]) == ["a", "x", "b", "c"]


def test_git_agrees(call: Call, root: Path, tmp_path: Path) -> None:
    """A diff that git made is applied as git applies it."""
    repository = tmp_path / "repo"
    repository.mkdir()
    old = "\n".join(f"line {number}" for number in range(40)) + "\n"
    new = old.replace("line 3\n", "three\n").replace("line 20\n", "").replace("line 39\n", "line 39\nmore\n")
    (repository / "f.txt").write_text(old)
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True)
    (repository / "f.txt").write_text(new)
    patch = subprocess.run(["git", "diff"], cwd=repository, check=True, capture_output=True, text=True).stdout
    (root / "f.txt").write_text(old)
    assert call(apply_patch, patch=patch).status == "complete"
    assert (root / "f.txt").read_text() == new
