"""Slash commands that show tools, rules, status and usage, and set the approval mode and the theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...diagnostic import Diagnostic
from ...errors import UsageError
from ...tools.policy.rules import MODES
from ..shared.clean_text import one_line, visible
from ..shared.usage_counts import session_bars, usage_by_model
from .pieces import Notice, Rows
from .theme import THEMES

if TYPE_CHECKING:
    from ...targets.diagnose import Fault
    from .talk import Talk


def show_tools(talk: Talk, rest: str) -> None:
    registry, mode = talk.session.scheduler.registry, talk.session.scheduler.policy.mode
    offered = {tool.name for tool in registry.offered_tools(mode)}
    off = {tool.name: "" if tool.name in offered else ", off in this mode" for tool in registry}
    rows = [(tool.name, f"{tool.risk}{off[tool.name]}: {_first_line(tool.description)}") for tool in registry]
    talk.edge.show(Rows(tuple(rows), "Tools"))


def _first_line(text: str) -> str:
    return one_line(text.strip().partition("\n")[0], 120)


def manage_permissions(talk: Talk, rest: str) -> None:
    """Show the rules, revoke one, or set the approval mode."""
    word, _, which = rest.partition(" ")
    if word == "revoke":
        _revoke_rule(talk, which.strip())
    elif word == "full":
        talk.do_aside(_set_full(talk))
    elif word:
        if word not in MODES:
            raise UsageError(f"{word!r} is not an approval mode; use {', '.join(MODES)}, or revoke NUMBER")
        _set_mode(talk, word)
    else:
        _show_rules(talk)


def _show_rules(talk: Talk) -> None:
    policy = talk.session.scheduler.policy
    rows = [(str(number), visible(str(rule))) for number, rule in enumerate(policy.rules, 1)]
    hint = "; /permissions revoke NUMBER revokes a session or saved rule" if rows else "; no rules"
    talk.edge.show(Rows(tuple(rows), f"Approval mode {policy.mode}{hint}"))


def _revoke_rule(talk: Talk, number: str) -> None:
    """Revoke a rule that the user granted. Rules of a configuration file are changed in that file."""
    scheduler = talk.session.scheduler
    rules = scheduler.policy.rules
    if not number.isdigit() or not 1 <= int(number) <= len(rules):
        raise UsageError(f"{number!r} is not the number of a rule; give one that `/permissions` lists")
    rule = rules[int(number) - 1]
    if rule.level not in ("session", "saved"):
        raise UsageError(f"the {visible(str(rule))} stands in a configuration file; change it there")
    scheduler.policy = scheduler.policy.without_rule(rule)
    if rule.level == "saved":
        talk.config.grants.remove(rule)
    talk.edge.show(Notice(f"Revoked: {visible(str(rule))}."))


async def _set_full(talk: Talk) -> None:
    question = "In full mode every call runs without a question: commands, deletions, network. Switch to it?"
    if await talk.confirm(question):
        _set_mode(talk, "full")
    else:
        talk.edge.show(Notice(f"The approval mode is still {talk.session.scheduler.policy.mode}."))


def _set_mode(talk: Talk, mode: str) -> None:
    talk.set_mode(mode)
    talk.edge.show(Notice(f"The approval mode is {mode}."))


def show_status(talk: Talk, rest: str) -> None:
    session, facts = talk.session, talk.status_facts
    cost = f"${facts.cost:.4f}" if facts.cost is not None else "unknown"
    rows = [
        ("session", session.id),
        ("stored in", session.store.address if session.store is not None else "not stored (--no-store)"),
        ("model", facts.model),
        ("address", talk.secrets.hide(session.target.provider.base_url)),
        ("folder", str(talk.config.folder)),
        ("context", f"{facts.used:,} of {facts.context:,} tokens"),
        ("turns", str(len(session.history.turns))),
        ("cost", cost),
        ("approval", facts.mode),
        *(("not trusted", str(path)) for path in talk.config.untrusted),
    ]
    talk.edge.show(Rows(tuple(rows)))


def show_stats(talk: Talk, rest: str) -> None:
    session = talk.session
    rows = [
        (name, f"{tokens.input or 0:,} tokens in, {tokens.output or 0:,} out")
        for name, tokens in usage_by_model(session.turns).items()
    ]
    talk.edge.show(Rows(tuple(rows), "Used in this session"))
    if lines := session_bars(session.telemetry.counts, talk.edge.width):
        talk.edge.show(Notice("\n".join(lines), "plain"))


def show_diagnosis(talk: Talk, rest: str) -> None:
    from ...targets.diagnose import diagnose  # it loads every checker, which the first prompt does not need

    target = talk.config.target(rest) if rest else talk.session.target
    found = diagnose(talk.session.history, target)
    if found.layer is None:
        talk.edge.show(Notice(f"{target.origin} would accept this conversation.", "good"))
    else:
        rows = [(_fault_code(fault), _fault_text(fault)) for fault in found.problems]
        talk.edge.show(Rows(tuple(rows), f"The fault is in the {found.layer} layer"))
    if found.warnings:
        rows = [(_fault_code(warning), _fault_text(warning)) for warning in found.warnings]
        talk.edge.show(Rows(tuple(rows), "Some servers refuse this"))
    if (report := found.report) is not None:
        talk.edge.show(
            Rows(
                (
                    ("id format", report.format),
                    ("calls, results", f"{len(report.calls)}, {len(report.results)}"),
                    (
                        "synthetic",
                        ", ".join(f"{one.status} ({one.reason})" for one in report.synthetic) or "none",
                    ),
                    ("deduplicated", str(len(report.deduplicated))),
                    ("changes", "; ".join(report.changes) or "none"),
                ),
                "Report",
            )
        )


def _fault_code(fault: Fault) -> str:
    return fault.code if isinstance(fault, Diagnostic) else fault.rule


def _fault_text(fault: Fault) -> str:
    return fault.detail if isinstance(fault, Diagnostic) else f"{fault.path}: {fault.answer}"


def switch_theme(talk: Talk, name: str) -> None:
    if name not in THEMES:
        raise UsageError(f"{name!r} is not a theme; use one of {', '.join(THEMES)}")
    talk.edge.set_theme(name)
    talk.edge.show(Notice(f'The theme is {name}; `theme = "{name}"` in the configuration keeps it.'))
