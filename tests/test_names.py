"""Names can be guessed: what a function is called says what it does, or what it gives back."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.name_exceptions import BARE_WORDS, SHARED_FUNCTIONS

SOURCE = Path(__file__).parent.parent / "src" / "turnout"


def words_of(text: str) -> set[str]:
    return set(text.split())


NOT_PARTICIPLES = {
    "feed",
    "need",
    "seed",
    "speed",
    "embed",
    "shed",
    "red",
    "ping",
    "string",
    "thing",
    "timing",
}
REGULAR_PARTICIPLE = re.compile(r"[a-z]+(?:ed|ing)")
IRREGULAR_PARTICIPLES = words_of("""
begun born bound broken brought built caught chosen cut done drawn driven eaten fallen felt fitted
forgotten found given gone got grown had heard held hidden kept known laid left lent lost made meant met
paid put rebuilt reread retold run said seen sent shown shrunk shut spelt spent split spoken stood stuck
sworn taken thrown told took torn undone understood unread unsaid unshown untold withdrawn won worn
written gave came began chose grew knew saw spoke stole threw went wrote
""")
VERBS = words_of("""
absorb add admit announce append apply approve ask assemble attend befall begin bring call cancel change
check choose clean clear clip close collect combine commit compact compare confirm connect convert copy
count create cut decide decode delete deliver discard distrust do draw drive drop dump edit emit enable
encode end enter examine expand expect extend fail feed fill find finish fit flush fold follow forget get
give go grant greet grow hear heed hide hold import inflate inquire interrupt invoke join judge keep learn
leave let listen load look lose make mark match mean measure meet mend merge migrate move name note notice
open paint parse pass perform pick place play pop prepare print prove prune pump push put reach read reap
recall receive record recover redact refresh refuse release remember remove rename render renew reopen
repair repeat replace replay reply reread resolve restart restore resume retake review revoke rewind run
save say scan seal search see select send serve set settle share shorten show shrink skip sniff spawn
speak spill spin splice split squeeze start stop store switch take tell think touch trust try turn undo
unfold unlink unpin update use wait walk watch withdraw wrap write
""")
JOINTS = words_of("""
above after again apart around at before behind below beside besides between beyond each else inside
instead near of once outside over past since through under until what when where which who why with within
without
""")


class Function(NamedTuple):
    """One `def` of the package, with where it stands."""

    file: str
    line: int
    name: str
    in_class: bool

    @property
    def word(self) -> str:
        return self.name.strip("_")

    @property
    def is_private(self) -> bool:
        return self.name.startswith("_")

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}"


def functions() -> Iterator[Function]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield from _functions_below(ast.parse(path.read_text()), str(path.relative_to(SOURCE)), False)


def _functions_below(node: ast.AST, file: str, in_class: bool) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not (child.name.startswith("__") and child.name.endswith("__")):
                yield Function(file, child.lineno, child.name, in_class)
            yield from _functions_below(child, file, False)
        else:
            yield from _functions_below(child, file, isinstance(child, ast.ClassDef))


def is_participle(word: str) -> bool:
    if word in NOT_PARTICIPLES:
        return False
    return word in IRREGULAR_PARTICIPLES or REGULAR_PARTICIPLE.fullmatch(word) is not None


def is_bare(function: Function) -> bool:
    """A participle says nothing by itself, and neither does a verb that belongs to no class.

    A public method may be a verb, since its class is the object: `history.append`, `decoder.feed`.
    """
    word = function.word
    if is_participle(word):
        return True
    return (word in VERBS or word in JOINTS) and (function.is_private or not function.in_class)


def test_no_function_is_a_bare_participle_or_verb() -> None:
    """Told what, to whom? `_events_of(block)` and `_settle_pending` can be guessed and found."""
    found = [str(each) for each in functions() if is_bare(each) and each.word not in BARE_WORDS]
    assert not found, f"{len(found)} names say too little:\n" + "\n".join(found)


def test_the_rule_finds_such_names() -> None:
    """The test itself is tested."""
    for name in ("_told", "_said", "_kept", "told", "_tell", "_named", "_opening", "send"):
        assert is_bare(Function("x.py", 1, name, False)), name
    for name in ("_events_of", "_settle_pending", "open_calls", "_name_of"):
        assert not is_bare(Function("x.py", 1, name, False)), name
    assert not is_bare(Function("x.py", 1, "feed", True))


def test_class_names_are_unique() -> None:
    """A search for a class finds one place."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCE)))
    several = {name: files for name, files in places.items() if len(files) > 1}
    assert not several, "\n".join(f"{name}: {', '.join(files)}" for name, files in sorted(several.items()))


def test_a_name_in_many_modules_has_a_reason() -> None:
    """A module-level function name stands in at most three modules, or on the list that says why."""
    places: dict[str, set[str]] = defaultdict(set)
    for each in functions():
        if not each.in_class:
            places[each.name].add(each.file)
    many = {name: files for name, files in places.items() if len(files) > 3 and name not in SHARED_FUNCTIONS}
    assert not many, "\n".join(f"{name}: {', '.join(sorted(files))}" for name, files in sorted(many.items()))


def test_the_lists_hold_only_what_is_needed() -> None:
    """An exception that nothing needs any more is taken off its list."""
    names = {each.name for each in functions()}
    words = {each.word for each in functions() if is_bare(each)}
    assert set(BARE_WORDS) <= words
    assert set(SHARED_FUNCTIONS) <= names
