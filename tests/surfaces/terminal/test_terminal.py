"""The interactive program in a real pseudo-terminal, against simulated providers on loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.places import User, simulated
from tests.surfaces.program import IDLE, Program

from turnout.simulate import Call, Delay, Say, Stall, Think
from turnout.simulate.model import demo
from turnout.store import open_store

PROMPT = r"^❯ ?$"
HEARS = r"\[y\] yes, once"


@pytest.fixture(scope="module")
def somebody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user with the small model made of rules behind every provider."""
    with simulated(tmp_path_factory.mktemp("user"), demo) as user:
        yield user


def start(user: User, *arguments: str, columns: int = 90, rows: int = 30, **more: str) -> Program:
    program = Program(arguments, {**user.environment, **more}, user.folder, columns, rows)
    try:
        program.wait(PROMPT)
    except BaseException:
        program.close()
        raise
    return program


def test_understand_the_code(somebody: User, tmp_path: Path) -> None:
    """The manual check: the overview tool is called and shown, a follow-up works, no request is refused."""
    log = tmp_path / "debug.log"
    with start(somebody, "-m", "openai-responses:gpt-5.1", "--debug", str(log), "--no-store") as program:
        program.say("understand the code")
        program.settled(r"● codebase_overview.*2 files.*README\.md \(2 lines\)")
        program.say("and what was the last thing?")
        program.settled(r"From this conversation I know 2 tool results")
        program.key("ctrl+d")
        assert program.ended() == 0
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [entry["what"] for entry in entries] == ["request", "reply"] * 4
    assert all(entry["request"]["report"]["format"] for entry in entries if entry["what"] == "request")
    assert 400 not in somebody.statuses


def test_the_screen_while_it_streams(tmp_path: Path) -> None:
    """Markdown is drawn, code coloured, thinking folded; the input line stays below; no more."""
    answer = "# Plan\n\nSome **bold** words.\n\n```python\ndef f():\n    return 1\n```\n\nThe end."
    script = [[Think("First I look."), Say(answer), Stall(1.0, after=4)], ["Bye."]]
    with simulated(tmp_path, script) as user, start(user, "-m", "anthropic:claude-sonnet-4-5") as program:
        program.say("go")
        program.wait(r"(answering|thinking|waiting) \d s · esc interrupts", scrolled=False)
        text = program.settled(r"The end\.\n\n❯")
        assert re.search(r"✻ thought( for \d s)? \(ctrl\+o opens\)", text)
        assert "First I look" not in text
        assert "**" not in text and "```" not in text
        assert re.search(r"Plan\n\nSome bold words\.\n\n  def f\(\):\n      return 1\n\nThe end\.", text)
        assert re.search(r"anthropic:claude-sonnet-4-5 · \d% of 200k · \$0\.\d+ · ask", text)
        program.key("ctrl+t")
        program.wait(r"  First I look\.")
        program.say("/quit")
        assert program.ended() == 0
        assert program.terminal.strange == []
    assert b"\x1b[1mbold" in bytes(program.finish_arguments).replace(b"\x1b[0;1m", b"\x1b[1m")


def test_approve_deny_and_edit(somebody: User) -> None:
    """The whole command and the whole change are in view; a no reaches the model with its reason."""
    notes = somebody.folder / "notes.md"
    with start(somebody, "-m", "anthropic:claude-sonnet-4-5", "--no-store") as program:
        program.say("run `touch approved`")
        program.wait(rf"│ shell wants to run\n│ \w+: ask mode .*│   touch approved.*{HEARS}")
        assert not (somebody.folder / "approved").exists()
        program.key("y")
        program.settled(r"● shell touch approved")
        assert (somebody.folder / "approved").exists()

        program.say("write notes.md saying: hello")
        program.wait(rf"│ write_file wants to run.*│   notes\.md\n│     1 \+ hello.*{HEARS}")
        program.key("n")
        program.wait(r"why not")
        program.say("not that name")
        program.settled(r"✗ write_file notes\.md denied.*They say: not that name")
        assert not notes.exists()

        program.say("run `touch edited`")
        program.wait(rf"touch edited\n.*{HEARS}", scrolled=False)
        program.key("e")
        program.wait(r"arguments \{\n +\"command\": \"touch edited\"\n +\}", scrolled=False)
        program.key("up", "ctrl+e", "left")
        program.type("_too")
        program.key("enter")
        program.settled(r"● shell touch edited_too")
        assert (somebody.folder / "edited_too").exists() and not (somebody.folder / "edited").exists()
        assert program.terminal.strange == []


def test_an_answer_holds_for_the_session_or_for_good(somebody: User) -> None:
    """`s` is not asked again in this session, `a` not even in the next one."""
    with start(somebody, "-m", "anthropic:claude-sonnet-4-5", "--no-store") as program:
        program.say("run `touch once`")
        program.wait(rf"touch once\n.*{HEARS}")
        program.key("s", "enter")
        program.settled(r"yes, for this session: exactly this call.*● shell touch once")
        program.say("run `touch once`")
        program.settled(r"● shell touch once.*● shell touch once")
        assert program.terminal.text.count("wants to run") == 1
        program.say("run `touch twice`")
        program.wait(rf"touch twice\n.*{HEARS}", scrolled=False)
        program.key("a", "enter")
        program.settled(r"● shell touch twice")
    with start(somebody, "-m", "anthropic:claude-sonnet-4-5", "--no-store") as program:
        program.say("run `touch twice`")
        program.wait(r"● shell touch twice")
        assert "wants to run" not in program.terminal.text


def test_keys_typed_before_the_question_do_not_answer_it(somebody: User) -> None:
    """Someone who types on while tools run must not approve by accident."""
    with start(somebody, "-m", "openai:gpt-4o", "--no-store") as program:
        program.say("run `touch by_accident`")
        program.type("yyy")
        program.wait(HEARS)
        time.sleep(0.2)
        assert not (somebody.folder / "by_accident").exists()
        program.key("esc")
        program.wait(r"Interrupted")


def test_interrupt_in_mid_tool_and_go_on_elsewhere(somebody: User) -> None:
    """Esc stops the tool at once; the next provider accepts the history; what was queued comes back."""
    before = len(somebody.statuses)
    with start(somebody, "-m", "openai:gpt-4o", "--approval-mode", "full", "--no-store") as program:
        program.say("run `echo begun; sleep 60`")
        program.wait(r"shell echo begun; sleep 60 · running.*begun", scrolled=False)
        program.say("and then?")
        program.wait(r"queued: and then\?")
        began = time.monotonic()
        program.key("esc")
        program.wait(r"✗ shell echo begun; sleep 60 cancelled.*❯ and then\?$", scrolled=False)
        program.settled("Interrupted")
        assert time.monotonic() - began < 30  # long before the tool would have ended
        program.key("ctrl+c")
        program.say("/model mistral:mistral-large-latest")
        program.wait(r"mistral:mistral-large-latest answers from now on")
        program.say("what happened?")
        program.wait(r"From this conversation I know 1 tool result.*cancelled")
        program.wait(r"^ mistral:mistral-large-latest ·", scrolled=False)
    assert set(somebody.statuses[before:]) == {200}


def test_a_message_is_queued_while_tools_run_and_delivered_after_them(somebody: User) -> None:
    """A prompt that is typed while a tool runs is sent with its result."""
    with start(somebody, "-m", "openai:gpt-4o", "--approval-mode", "full", "--no-store") as program:
        program.say("run `until [ -e gate ]; do sleep 0.05; done`")
        program.wait(r"· running", scrolled=False)
        program.say("list the files")
        program.wait(r"queued: list the files")
        (somebody.folder / "gate").touch()
        program.settled(r"● shell until.*❯ list the files\n.*● list_directory")


def test_resume_after_kill(somebody: User) -> None:
    """kill -9 in mid tool; -c goes on with another provider, and the tool is not run again."""
    counter = somebody.folder / "counter"
    program = start(somebody, "-m", "openai:gpt-4o", "--approval-mode", "full")
    with program:
        program.say("run `echo x >> counter; sleep 60`")
        program.wait(r"· running 1 s", scrolled=False)
        program.signal(signal.SIGKILL)
        assert program.ended() == -signal.SIGKILL
    with start(somebody, "-c", "-m", "gemini:gemini-2.5-pro") as program:
        text = program.settled(r"❯ run `echo x >> counter; sleep 60`\n.*✗ shell.* interrupted")
        program.say("what happened?")
        program.wait(r"I know 1 tool result")
        program.key("ctrl+d")
        assert program.ended() == 0
    assert "gemini:gemini-2.5-pro" in text
    assert counter.read_text() == "x\n"
    assert 400 not in somebody.statuses


def test_hang_up_and_terminate_leave_the_session_in_order(somebody: User) -> None:
    """The terminal window is closed in mid tool: the process ends, nothing is left open."""
    with start(somebody, "-m", "openai:gpt-4o", "--approval-mode", "full") as program:
        program.say("run `sleep 61`")
        program.wait(r"· running", scrolled=False)
        program.signal(signal.SIGTERM)
        assert program.ended() == 0
    with open_store(somebody.environment) as store:
        line = store.list(limit=1)[0]
        assert line.holder is None
        assert store.read(line.id).open_calls == ()
    assert "sleep 61" not in _commands()


def _commands() -> str:
    found = []
    for name in os.listdir("/proc"):
        try:
            found.append(
                Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
        except OSError:
            continue
    return "\n".join(line for line in found if not line.startswith(("rg", "grep")))


def test_editing_completion_and_history(somebody: User) -> None:
    """Several lines, @files, slash commands, approval modes, what was said before."""
    with start(somebody, "-m", "openai:gpt-4o") as program:
        program.key("shift+tab")
        program.wait(r"· auto-edit ·", scrolled=False)
        program.type("/mod")
        program.wait(r"model\s+choose who answers", scrolled=False)
        program.key("tab")
        program.type(" mistral")
        program.wait(r"^ +mistral:mistral-large-latest", scrolled=False)
        program.key("tab")
        program.wait(r"❯ /model mistral:mistral-large-latest", scrolled=False)
        program.key("enter", "enter")
        program.wait(r"mistral:mistral-large-latest answers")
        program.type("first line")
        program.key("alt+enter")
        program.type("second line \\")
        program.key("enter")
        program.type("look at @READ")
        program.wait(r"^ +README\.md", scrolled=False)
        program.key("tab", "enter")
        screen = program.wait(r"❯ first line\n  second line\n  look at @README\.md", scrolled=False)
        program.key("enter")
        program.settled(r"❯ first line\n  second line\n  look at @README\.md\n.*README\.md \(2 lines\)")
        program.key("ctrl+r")
        program.type("model")
        program.wait(r"/model mistral", scrolled=False)
        program.key("ctrl+c")
        program.wait(r"^❯$", scrolled=False)
        program.key("ctrl+c")
        program.wait(r"Press Ctrl\+C again")
        program.key("ctrl+c")
        assert program.ended() == 0
    assert "first line" in screen
    seen = somebody.simulation.exchanges[-1].body.decode()  # type: ignore[union-attr]
    assert "The file README.md" in seen and "A small project." in seen


def test_commands(somebody: User) -> None:
    """Each slash command answers, and a wrong one is told the nearest."""
    commands = somebody.home / ".config/turnout/commands"
    commands.mkdir(parents=True, exist_ok=True)
    (commands / "greet.md").write_text("---\ndescription: Be kind\n---\nSay hello to $1 and read README.md")
    with start(somebody, "-m", "openai:gpt-4o", rows=50) as program:
        for typed, shown in (
            ("/help", r"Your commands\n  /greet\s+Be kind.*Keys"),
            ("/greet Ada", r"● read_file README\.md"),
            ("/provider kimi", r"kimi:kimi-k\S+ answers"),
            ("/tools", r"edit_file\s+write: Replace"),
            ("/mcp", r"No MCP server is configured"),
            ("/permissions plan", r"The approval mode is plan"),
            ("/permissions", r"Approval mode plan"),
            ("/status", r"context\s+[\d,]+ of [\d,]+ tokens"),
            ("/stats", r"openai:gpt-4o\s+[\d,]+ tokens in"),
            ("/diagnose", r"kimi:kimi-k\S+ would accept this conversation"),
            ("/theme light", r"The theme is light"),
            ("/copy", r"(Copied|clipboard of your terminal|the answer is in)"),
            ("/compact", r"(nothing to compact|Compacted)"),
            ("/fork", r"Continuing in a copy"),
            ("/undo", r"Removed.*❯ Say hello to Ada"),
        ):
            program.say(typed)
            program.settled(shown)
        program.key("ctrl+c")
        program.say("/export talk.md")
        program.wait(r"Written to .*talk\.md")
        program.say("/model")
        program.wait(r"Models: type to search.*\$[\d.]+/\$\d+ · key", scrolled=False)
        program.key("esc")
        program.wait(IDLE, scrolled=False)
        time.sleep(0.3)  # a letter right after Esc would be Alt and that letter
        program.say("/resume")
        program.wait(r"Sessions, the latest first", scrolled=False)
        program.key("esc")
        program.wait(IDLE, scrolled=False)
        time.sleep(0.3)  # a letter right after Esc would be Alt and that letter
        program.say("/clear")
        program.wait(r"Started session")
        program.say("/permision")
        program.wait(r"Did you mean /permissions")
        program.say("!echo mine; echo $OPENAI_API_KEY")
        program.settled(r"● ! echo mine; echo \$OPENAI_API_KEY\n  ⎿ mine\n\n?")
        program.say("hello")
        program.settled(r"You said")
        program.say("/quit")
        assert program.ended() == 0
    assert "I ran this command myself" in somebody.simulation.exchanges[-1].body.decode()  # type: ignore[union-attr]
    assert (somebody.folder / "talk.md").stat().st_mode & 0o777 == 0o600


def test_narrow_and_resized(somebody: User) -> None:
    """Thirty columns are enough; after a resize the input line is there once."""
    with start(somebody, "-m", "openai:gpt-4o", "--no-store", columns=30, rows=12) as program:
        program.say("list the files")
        program.settled(r"● list_directory")
        program.resize(60, 20)
        program.say("hello there")
        program.settled(r"❯ hello there")
        screen = program.wait(r"^ openai:gpt-4o", scrolled=False)
        assert len(re.findall(r"^ openai:gpt-4o", screen, re.MULTILINE)) == 1
        program.resize(8, 5)
        program.say("again")
        program.wait(r"❯ again")
        program.key("ctrl+d")
        assert program.ended() == 0


def test_no_colour(somebody: User) -> None:
    """NO_COLOR and --no-color: not a single colour or style is written."""
    with start(somebody, "-m", "openai:gpt-4o", "--no-store", NO_COLOR="1") as program:
        program.say("read README.md")
        program.settled(r"● read_file README\.md")
    styles = set(re.findall(rb"\x1b\[([0-9;]*)m", bytes(program.finish_arguments)))
    assert styles <= {b"0", b""}


def test_what_models_and_tools_write_steers_nothing(tmp_path: Path) -> None:
    """Titles, clipboards, links, clearing: all of it comes out as text or not at all."""
    evil = "\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[3J\x1bP+q544e\x1b\\\x9b2J\x1b[6n\x07\x08\x0e"
    script = [
        [Think(f"{evil}thought"), Say(f"{evil}before "), Call("read_file", {"path": "evil"})],
        [Call("shell", {"command": f"echo '{evil}'; cat evil; echo \u202edetrever"})],
        [Say(f"```\n{evil}code\n```\n[{evil}link](http://x/{evil})"), Delay(0.1)],
    ]
    with simulated(tmp_path, script) as user:
        (user.folder / "evil").write_text(f"{evil}file\n")
        with start(user, "-m", "anthropic:claude-sonnet-4-5", "--no-store", columns=250) as program:
            program.say("go")
            program.wait(rf"<U\+001B>\]0;owned<U\+0007>.*<U\+202E>detrever.*{HEARS}")
            program.key("y")
            program.settled(r"code.*link")
            assert program.terminal.strange == []
        assert b"\x1b]" not in program.finish_arguments and b"\x1bP" not in program.finish_arguments


def test_a_tool_asks_the_user(tmp_path: Path) -> None:
    """A question of the model's with choices: a number, other words, or no answer at all."""
    ask = Call("ask_user", {"question": "Tea or coffee?", "choices": ["tea", "coffee"]})
    script = [[ask], ["Noted."], [ask], ["Fine."]]
    with simulated(tmp_path, script) as user, start(user, "-m", "openai:gpt-4o", "--no-store") as program:
        program.say("serve me")
        program.wait(r"Tea or coffee\?.*  2  coffee.*your answer \(esc: none\)")
        program.say("2")
        program.settled(r"The user says: coffee.*Noted\.")
        program.say("again")
        program.wait(r"your answer", scrolled=False)
        program.key("esc")
        program.settled(r"did not answer.*Fine\.")
