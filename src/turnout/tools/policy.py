"""Whether a call may run: approval modes and rules, decided without IO, always with the reason.

The order is fixed, so the same call gets the same verdict wherever its rules were written:

1. a rule that denies, at any level;
2. plan mode, which only reads;
3. taint: once content that nobody vouches for is in the context, whatever leaves the
   machine is asked for, unless the user granted these very arguments;
4. what the user granted when asked: for this session, or for good;
5. a rule that asks, or one of which cannot be told whether it meets the call;
6. a rule that allows;
7. what the mode says of the call's risk.

A grant for a tool that reads or writes covers the tool; for a riskier one it covers these
very arguments. Policy decides when to ask; what is possible is decided by confinement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ..errors import UsageError
from ..plain import dumps, plain
from .path_globs import below, covers, meets
from .situation import Assessment
from .tool import Risk, Tool
from .visible import visible

Mode = Literal["ask", "auto-edit", "plan", "full"]
Effect = Literal["allow", "ask", "deny"]
Level = Literal["session", "saved", "user", "project"]
Reach = Literal["inside", "outside"]

MODES: tuple[str, ...] = get_args(Mode)
READS = "read_file"

_encode = msgspec.json.Encoder(order="sorted").encode
_BY_RISK: dict[Mode, dict[Risk, Effect]] = {
    "ask": {"read": "allow", "write": "ask", "risky": "ask", "dangerous": "ask"},
    "auto-edit": {"read": "allow", "write": "allow", "risky": "ask", "dangerous": "ask"},
    "plan": {"read": "allow", "write": "deny", "risky": "deny", "dangerous": "deny"},
    "full": {"read": "allow", "write": "allow", "risky": "allow", "dangerous": "allow"},
}


class Rule(Struct, frozen=True):
    """Allow, ask or deny calls by tool, argument patterns and path; empty parts match everything.

    `path` is a glob over the paths a call touches: `*` stays within a name, `**` crosses
    folders, a pattern without `/` matches the last name. An allowing rule must cover every
    path of the call; a denying or asking one needs to meet one of them, or a folder above
    it, in any case of letters, and to deny a path is to deny its content by whatever way (see
    `denied`). A path too long for any file meets every rule that denies and none that allows.
    `fingerprint` binds the rule to exact arguments; `exactly` shows them to people.
    """

    effect: Effect
    tool: str = "*"
    arguments: dict[str, str] = field(default_factory=dict)
    path: str = ""
    reach: Reach | Literal[""] = ""
    level: Level = "user"
    fingerprint: str = ""
    exactly: str = ""

    def __str__(self) -> str:
        return f"{self.level} rule: {self.effect} {self.covered}"

    @property
    def covered(self) -> str:
        """Which calls the rule is about, in words."""
        limits = [f"{name}={pattern!r}" for name, pattern in self.arguments.items()]
        limits += [f"path {self.path!r}"] if self.path else []
        limits += [f"{self.reach} the workspace"] if self.reach else []
        limits += (
            [f"exactly {self.exactly}" if self.exactly else "these arguments"] if self.fingerprint else []
        )
        return " ".join([self.tool, *limits])


class Subject(Struct, frozen=True):
    """A call as policy sees it. `paths` holds each path as written and as it resolves.

    `mentions` are paths that it may touch: a rule that denies or asks looks at them too. `roots`
    are the names of the workspace. `assessed` is what the tool itself says of this call; `tainted` names the
    source of content in the context that nobody vouches for.
    """

    tool: Tool
    arguments: dict[str, Any]
    paths: tuple[tuple[str, ...], ...] = ()
    reach: Reach = "inside"
    assessed: Assessment | None = None
    tainted: str = ""
    mentions: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()

    @property
    def risk(self) -> Risk:
        return self.assessed.risk if self.assessed else self.tool.risk

    @property
    def leaves(self) -> bool:
        """Whether the call may send something off the machine."""
        return self.tool.leaves or (self.assessed is not None and self.assessed.leaves)

    def parts(self, name: str) -> tuple[str, ...] | None:
        """What an argument is made of; None when it is one piece, () when that cannot be told."""
        return self.assessed.parts.get(name) if self.assessed else None

    def reached(self, name: str) -> tuple[str, ...]:
        """What the parts of an argument come to in the end, by whatever way."""
        return self.assessed.reached.get(name, ()) if self.assessed else ()

    def is_untold(self, name: str, pattern: str) -> bool:
        """Whether an argument has parts that nobody can tell, or words that may be what a rule means."""
        if self.assessed is None:
            return False
        possible = self.assessed.possible.get(name, ())
        return name in self.assessed.untold or any(fnmatchcase(text, pattern) for text in possible)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.tool.name, self.arguments)


class Verdict(Struct, frozen=True):
    """What policy says of a call, and why."""

    effect: Effect
    why: str


class Policy(Struct, frozen=True):
    """A mode and rules of every level. Grants are rules too: `level` session or saved.

    `taint` asks before anything leaves the machine once untrusted content was read. In full
    mode that is so for tools that do nothing else (`Tool.leaves`), not for commands.
    """

    mode: Mode = "ask"
    rules: tuple[Rule, ...] = ()
    taint: bool = True

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UsageError(f"{self.mode!r} is no approval mode; use one of {', '.join(MODES)}")

    def decide(self, subject: Subject) -> Verdict:
        """Allow, ask or deny, with the reason."""
        matching = [rule for rule in self.rules if matches(rule, subject) and not _falls_short(rule, subject)]
        if denied := _first(matching, "deny"):
            return Verdict("deny", str(denied))
        if self.mode == "plan" and subject.risk != "read":
            return Verdict("deny", f"plan mode only reads, and {subject.tool.name} is {subject.risk}")
        grants = [rule for rule in matching if rule.level in ("session", "saved")]
        exact = _first((rule for rule in grants if rule.fingerprint), "allow")
        if exact is None and (tainted := self._tainted(subject)):
            return tainted
        for rule in (exact, _first(grants, "allow"), _first(matching, "ask")):
            if rule:
                return Verdict(rule.effect, str(rule))
        if unclear := self._unclear(subject):
            return unclear
        if allowed := _first(matching, "allow"):
            return Verdict("allow", str(allowed))
        return self._by_mode(subject)

    def _tainted(self, subject: Subject) -> Verdict | None:
        leaves = subject.tool.leaves if self.mode == "full" else subject.leaves
        if not (self.taint and subject.tainted and leaves):
            return None
        why = f"it may send something off the machine, after content from {subject.tainted} was read"
        return Verdict("ask", why)

    def hides(self, tool: str) -> tuple[Rule, ...]:
        """The rules that keep the content of paths from a tool: those that deny reading it at all.

        A rule against `read_file` counts for every tool, for what may not be read by one way may
        not be read by another.
        """
        return tuple(
            rule
            for rule in self.rules
            if rule.effect == "deny" and rule.path and not rule.arguments and not rule.fingerprint
            if rule.reach != "outside" and (_named(rule.tool, tool) or _named(rule.tool, READS))
        )

    def _unclear(self, subject: Subject) -> Verdict | None:
        """A rule against a call whose parts cannot be told might mean it: ask; deny what is too long."""
        if subject.assessed and subject.assessed.may_show and (hiding := self.hides(subject.tool.name)):
            return Verdict("ask", f"{subject.assessed.may_show}, and there is the {hiding[0]}")
        for rule in self.rules:
            if rule.effect != "allow" and _might_match(rule, subject):
                too_much = subject.assessed is not None and subject.assessed.too_much
                effect: Effect = "deny" if rule.effect == "deny" and too_much else "ask"
                return Verdict(effect, f"it cannot be told whether this falls under the {rule}")
        return None

    def _by_mode(self, subject: Subject) -> Verdict:
        risk = subject.risk
        effect = _BY_RISK[self.mode][risk]
        because = f": {subject.assessed.why}" if subject.assessed and subject.assessed.why else ""
        if effect == "allow" and subject.reach == "outside" and self.mode != "full":
            return Verdict("ask", f"{self.mode} mode asks before a {risk} outside the workspace")
        said = {"allow": "allows", "ask": "asks before", "deny": "denies"}[effect]
        return Verdict(effect, f"{self.mode} mode {said} {_calls(risk)}{because if effect == 'ask' else ''}")

    def with_rule(self, rule: Rule) -> Policy:
        return replace(self, rules=(*self.rules, rule))

    def without_rule(self, rule: Rule) -> Policy:
        return replace(self, rules=tuple(other for other in self.rules if other != rule))


def grant(subject: Subject, level: Level) -> Rule:
    """The rule that "always" means for this call: the tool, or for riskier ones these arguments."""
    if is_mild(subject.tool.risk, subject.risk):
        return Rule("allow", subject.tool.name, reach=subject.reach, level=level)
    exactly = visible(dumps(subject.arguments))
    return Rule("allow", subject.tool.name, level=level, fingerprint=subject.fingerprint, exactly=exactly)


def is_mild(*risks: str) -> bool:
    """Whether a lasting yes may be to a tool as a whole."""
    return all(risk in ("read", "write") for risk in risks)


def _falls_short(rule: Rule, subject: Subject) -> bool:
    """A yes to a tool that writes was no yes to a call of it that does worse (a patch that deletes)."""
    general = rule.effect == "allow" and rule.level in ("session", "saved") and not rule.fingerprint
    return general and is_mild(subject.tool.risk) and not is_mild(subject.risk)


def fingerprint(name: str, arguments: Mapping[str, Any]) -> str:
    """Names these exact arguments, whatever order their keys were written in."""
    try:
        written = _encode(arguments)
    except Exception:  # a caller's own values, which JSON cannot say
        written = _encode(plain(arguments))
    return sha256(name.encode() + b"\0" + written).hexdigest()


def matches(rule: Rule, subject: Subject) -> bool:
    if not _named(rule.tool, subject.tool.name):
        return False
    if rule.reach and rule.reach != subject.reach:
        return False
    if rule.fingerprint and rule.fingerprint != subject.fingerprint:
        return False
    return _arguments_match(rule, subject) and _paths_match(rule, subject)


def _first(rules: Iterable[Rule], effect: Effect) -> Rule | None:
    return next((rule for rule in rules if rule.effect == effect), None)


def _named(pattern: str, name: str) -> bool:
    return pattern in ("*", name) or fnmatchcase(name, pattern)


def _arguments_match(rule: Rule, subject: Subject) -> bool:
    for name, pattern in rule.arguments.items():
        if name not in subject.arguments:
            return False
        value = subject.arguments[name]
        text = value if isinstance(value, str) else dumps(value)
        reached = subject.reached(name) if rule.effect != "allow" else ()
        if not _argument_matches(rule.effect, pattern, text, subject.parts(name), reached):
            return False
    return True


def _argument_matches(
    effect: Effect, pattern: str, text: str, parts: tuple[str, ...] | None, reached: tuple[str, ...]
) -> bool:
    """A pattern against an argument: to allow, it must cover every part; to deny, meet one."""
    if parts is None:
        return fnmatchcase(text, pattern)
    if effect == "allow":
        return text == pattern or (bool(parts) and all(fnmatchcase(part, pattern) for part in parts))
    return any(fnmatchcase(part, pattern) for part in (text, *parts, *reached))


def _might_match(rule: Rule, subject: Subject) -> bool:
    """Whether only the parts that cannot be told keep a rule from matching."""
    untold = {
        name
        for name, pattern in rule.arguments.items()
        if subject.parts(name) == () or subject.is_untold(name, pattern)
    }
    if not untold:
        return False
    rest = {name: text for name, text in rule.arguments.items() if name not in untold}
    return matches(replace(rule, arguments=rest), subject)


def _paths_match(rule: Rule, subject: Subject) -> bool:
    """Denying looks at every spelling of a path and needs one hit; allowing must cover them all."""
    if not rule.path:
        return True
    pattern = below(subject.roots, rule.path)
    spellings = [path for known in subject.paths for path in known]
    if rule.effect == "allow":
        return bool(spellings) and all(covers(pattern, path) for path in spellings)
    return any(meets(pattern, path) for path in (*spellings, *subject.mentions))


def _calls(risk: Risk) -> str:
    return {"read": "reading", "write": "writing", "risky": "risky calls", "dangerous": "dangerous calls"}[
        risk
    ]
