"""Policy: modes and rules decide, deny wins, and every verdict says why."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.errors import UsageError
from turnout.tools.declare.tool import Risk, Tool, tool
from turnout.tools.policy.path_globs import path_matches
from turnout.tools.policy.rules import Policy, Rule, Subject, call_fingerprint, grant_rule
from turnout.tools.policy.situation import Assessment


def made(risk: Risk = "write", name: str = "edit") -> Tool:
    return tool(lambda: None, name=name, risk=risk)


def subject(risk: Risk = "write", path: str = "src/a.py", **more: Any) -> Subject:
    return Subject(made(risk), more.pop("arguments", {"path": path}), ((path,),), **more)


@pytest.mark.parametrize(
    ("mode", "verdicts"),
    [
        ("ask", ["allow", "ask", "ask", "ask"]),
        ("auto-edit", ["allow", "allow", "ask", "ask"]),
        ("plan", ["allow", "deny", "deny", "deny"]),
        ("full", ["allow", "allow", "allow", "allow"]),
    ],
)
def test_each_mode_decides_by_risk(mode: Any, verdicts: list[str]) -> None:
    """read, write, risky, dangerous: what each mode does with them inside the workspace."""
    risks: list[Risk] = ["read", "write", "risky", "dangerous"]
    assert [Policy(mode).decide(subject(risk)).effect for risk in risks] == verdicts


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "plan"])
def test_reading_outside_the_workspace_is_asked(mode: Any) -> None:
    """What lies outside is not covered by what a mode allows, except in full mode."""
    outside = subject("read", "/etc/hosts", reach="outside")
    assert Policy(mode).decide(outside).effect == "ask"
    assert "outside the workspace" in Policy(mode).decide(outside).why
    assert Policy("full").decide(outside).effect == "allow"


def test_a_yes_to_writing_is_no_yes_to_deleting() -> None:
    """A patch that deletes is asked for again, and a lasting yes to it is for that patch alone."""
    writes, deletes, other = (
        subject(arguments={"patch": text}, assessed=Assessment(risk))  # type: ignore[arg-type]
        for text, risk in (("a", "write"), ("b", "dangerous"), ("c", "dangerous"))
    )
    policy = Policy("ask").with_rule(grant_rule(writes, "session"))
    assert [policy.decide(each).effect for each in (writes, deletes)] == ["allow", "ask"]
    policy = policy.with_rule(grant_rule(deletes, "saved"))
    assert [policy.decide(each).effect for each in (deletes, other)] == ["allow", "ask"]
    written_down = Policy("ask", (Rule("allow", "edit"),))  # by the user, who knows the tool
    assert written_down.decide(deletes).effect == "allow"


def test_an_unknown_mode_is_refused() -> None:
    """A mode that does not exist must not act like one that allows."""
    with pytest.raises(UsageError, match="not an approval mode"):
        Policy("yolo")  # type: ignore[arg-type]


def test_deny_wins_at_every_level_and_in_every_order() -> None:
    """Whatever else allows, one denying rule is enough, and it is named."""
    rules = [
        Rule("allow", level="session"),
        Rule("allow", level="saved"),
        Rule("ask", level="user"),
        Rule("deny", path="*.env", level="project"),
    ]
    for order in itertools.permutations(rules):
        verdict = Policy("full", order).decide(subject(path="config/.env"))
        assert verdict.effect == "deny"
        assert verdict.why == "project rule: deny * path '*.env'"


def test_a_grant_silences_the_rule_that_asked() -> None:
    """After "always", the rule that asked does not ask again; before it, asking wins over allowing."""
    policy = Policy("full", (Rule("allow", "edit"), Rule("ask", "edit")))
    assert policy.decide(subject()).effect == "ask"
    assert policy.with_rule(grant_rule(subject(), "session")).decide(subject()).effect == "allow"


def test_plan_mode_denies_whatever_was_granted() -> None:
    """Plan mode only reads, rules or not."""
    verdict = Policy("plan", (grant_rule(subject(), "saved"), Rule("allow"))).decide(subject())
    assert verdict.effect == "deny"
    assert verdict.why == "plan mode only reads, and edit is write"


def test_a_grant_for_a_dangerous_tool_covers_these_arguments_only() -> None:
    """ "Always" for one command is not "always" for every command."""
    listed = subject("dangerous", arguments={"command": "ls"})
    wiped = subject("dangerous", arguments={"command": "rm -rf ."})
    policy = Policy("ask", (grant_rule(listed, "session"),))
    assert policy.decide(listed).effect == "allow"
    assert policy.decide(wiped).effect == "ask"


def test_a_grant_inside_the_workspace_does_not_reach_outside() -> None:
    """A tool that was allowed inside is asked about again outside."""
    policy = Policy("ask", (grant_rule(subject(), "session"),))
    assert policy.decide(subject(path="b.py")).effect == "allow"
    assert policy.decide(subject(path="/etc/x", reach="outside")).effect == "ask"


def test_rules_match_tool_arguments_and_path() -> None:
    """Each part narrows the rule; empty parts match everything."""
    rule = Rule("allow", "ed*", {"path": "src/*"}, "src/**")
    assert Policy("ask", (rule,)).decide(subject()).effect == "allow"
    assert Policy("ask", (rule,)).decide(subject(path="lib/a.py")).effect == "ask"
    assert Policy("ask", (Rule("allow", "read"),)).decide(subject()).effect == "ask"
    assert Policy("ask", (Rule("allow", arguments={"nope": "*"}),)).decide(subject()).effect == "ask"


def test_denying_meets_any_spelling_and_allowing_must_cover_all() -> None:
    """A link into a denied folder is denied; a link out of an allowed one is not allowed."""
    linked = Subject(made(), {}, (("docs/link", "secrets/key"),))
    assert Policy("full", (Rule("deny", path="secrets/**"),)).decide(linked).effect == "deny"
    assert Policy("ask", (Rule("allow", path="docs/**"),)).decide(linked).effect == "ask"


def test_denying_knows_no_case_and_allowing_does() -> None:
    """On some file systems `.ENV` opens `.env`; a rule that allows is taken to the letter."""
    for path in ("config/.env", "config/.ENV", ".Env/x"):
        assert Policy("full", (Rule("deny", path=".env"),)).decide(subject(path=path)).effect == "deny", path
    assert (
        Policy("full", (Rule("deny", path="caf\u00e9"),)).decide(subject(path="cafe\u0301")).effect == "deny"
    )
    assert Policy("ask", (Rule("allow", path="docs/**"),)).decide(subject(path="DOCS/a")).effect == "ask"


def test_what_may_show_a_denied_file_is_asked_for() -> None:
    """Whatever allows it, but for a grant of these very arguments; and only where a rule denies a path."""
    shows = subject("read", arguments={"command": "git show"}, assessed=Assessment("read", may_show="it may"))
    denies, allows = Rule("deny", path="**/.env"), Rule("allow", "edit", {"command": "git *"})
    for mode in ("ask", "auto-edit", "plan", "full"):
        assert Policy(mode, (denies, allows)).decide(shows).effect == "ask"  # type: ignore[arg-type]
        assert Policy(mode, (allows,)).decide(shows).effect == "allow"  # type: ignore[arg-type]
    granted = Rule("allow", "edit", level="session", fingerprint=shows.fingerprint)
    assert Policy("ask", (denies, granted)).decide(shows).effect == "allow"


def test_mentions_are_for_rules_that_deny_or_ask() -> None:
    """A path that may be touched is denied; it does not keep a rule from allowing the rest."""
    mentioned = subject(path="docs/a", mentions=("secrets/key",))
    assert Policy("full", (Rule("deny", path="secrets/**"),)).decide(mentioned).effect == "deny"
    assert Policy("full", (Rule("ask", path="secrets/**"),)).decide(mentioned).effect == "ask"
    assert Policy("ask", (Rule("allow", path="docs/**"),)).decide(mentioned).effect == "allow"


def test_a_denied_folder_denies_what_is_in_it() -> None:
    """A rule need not end in `**` to cover the folder it names."""
    for pattern in ("secrets", "secrets/", "secrets/**", "**/secrets"):
        policy = Policy("full", (Rule("deny", path=pattern),))
        assert policy.decide(subject(path="secrets/deep/key")).effect == "deny", pattern


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a/b/c.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/test/*", "a/b/test/c", True),
        ("/etc/**", "/etc/passwd", True),
        ("/etc/**", "etc/passwd", False),
        ("etc/**", "/etc/passwd", False),
        ("**", "anything/at/all", True),
    ],
)
def test_path_patterns(pattern: str, path: str, matches: bool) -> None:
    """`*` stays within a name, `**` crosses folders, no slash means the last name."""
    assert path_matches(pattern, path) is matches


def test_a_pattern_is_bounded_in_time_on_any_argument() -> None:
    """A long argument against a pattern of many stars is decided at once, to its very end."""
    policy = Policy("full", (Rule("deny", arguments={"command": "*a*b*a*b*a*secret"}),))
    long = "ab" * 500_000
    before = time.process_time()
    assert policy.decide(subject(arguments={"command": long})).effect == "allow"
    assert policy.decide(subject(arguments={"command": long + "secret"})).effect == "deny"
    assert policy.decide(subject(path="a/" * 500_000)).effect == "allow"
    deep = Policy("full", (Rule("deny", path="**/*a*/**/b*/**"),))
    assert deep.decide(subject(path="a/" * 500_000)).effect == "deny"
    assert time.process_time() - before < 2


@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=5), st.randoms())
def test_a_fingerprint_does_not_depend_on_the_order_of_keys(arguments: dict[str, Any], random: Any) -> None:
    """The same arguments have one fingerprint; another value has another."""
    shuffled = list(arguments.items())
    random.shuffle(shuffled)
    assert call_fingerprint("t", arguments) == call_fingerprint("t", dict(shuffled))
    assert call_fingerprint("t", arguments) != call_fingerprint("u", arguments)
    assert call_fingerprint("t", arguments) != call_fingerprint("t", {**arguments, "more": 1})


RULES = st.lists(
    st.builds(
        Rule,
        st.sampled_from(["allow", "ask", "deny"]),
        st.sampled_from(["*", "edit", "read"]),
        path=st.sampled_from(["", "src/**", "*.env"]),
        level=st.sampled_from(["session", "saved", "user", "project"]),
    ),
    max_size=6,
)


@given(RULES, st.sampled_from(["ask", "auto-edit", "plan", "full"]), st.randoms())
def test_the_effect_does_not_depend_on_the_order_of_rules(rules: list[Rule], mode: Any, random: Any) -> None:
    """Shuffling the rules changes no verdict, and adding one that allows never lifts a denial."""
    shuffled = random.sample(rules, len(rules))
    effect = Policy(mode, tuple(rules)).decide(subject()).effect
    assert Policy(mode, tuple(shuffled)).decide(subject()).effect == effect
    if effect == "deny":
        assert Policy(mode, (Rule("allow", level="session"), *rules)).decide(subject()).effect == "deny"
