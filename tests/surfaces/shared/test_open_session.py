"""How a command opens a session: rules of the command line, and the session that is resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.places import User, user

from turnout.errors import UsageError
from turnout.history.log import History
from turnout.store import open_store
from turnout.surfaces.shared.open_session import (
    SessionArguments,
    command_line_rules,
    configuration,
    find_session,
    open_session,
    stored_session,
)


@pytest.fixture
def somebody(tmp_path: Path) -> User:
    return user(tmp_path, "http://127.0.0.1:9")


def test_rules_of_the_command_line_name_a_tool_and_a_pattern() -> None:
    """For the shell the pattern is the command, for other tools it is the path."""
    given = SessionArguments(allow=("shell(pytest*)", "read_file"), deny=("edit_file(*.lock)",))
    shell, read, edit = command_line_rules(given)

    assert (shell.effect, shell.tool, shell.arguments) == ("allow", "shell", {"command": "pytest*"})
    assert (read.effect, read.tool) == ("allow", "read_file")
    assert (edit.effect, edit.tool, edit.path) == ("deny", "edit_file", "*.lock")
    with pytest.raises(UsageError, match="is not a rule; write a tool's name"):
        command_line_rules(SessionArguments(allow=("shell(",)))


def test_a_rule_for_an_unknown_tool_is_refused(somebody: User) -> None:
    """It would protect nothing; the nearest name is given."""
    given = SessionArguments(model="openai:gpt-4o", deny=("shel",), folder=str(somebody.folder))

    with pytest.raises(UsageError, match="there is no such tool; check the name: did you mean shell"):
        open_session(given, configuration(given, somebody.environment))


def test_a_folder_that_does_not_exist_is_refused() -> None:
    """The message names the option."""
    with pytest.raises(UsageError, match="is not a folder; give an existing folder with --cwd"):
        configuration(SessionArguments(folder="/does/not/exist"), {})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (SessionArguments(stored=False, continues=True), "--no-store cannot resume a session"),
        (SessionArguments(resume="a", continues=True), "give only one of them"),
        (SessionArguments(fork=True), "--fork copies a session; name it with"),
        (SessionArguments(continues=True), "there is no session of .* to resume; .* with -r"),
        (SessionArguments(resume="zzz"), "there is no session 'zzz'; `turnout sessions` lists them"),
    ],
)
def test_options_that_cannot_be_followed_say_what_to_do(
    given: SessionArguments, message: str, somebody: User
) -> None:
    """Each contradiction has its own message."""
    config = configuration(SessionArguments(folder=str(somebody.folder)), somebody.environment)

    with pytest.raises(UsageError, match=message):
        stored_session(given, config)


def test_a_session_is_found_by_the_beginning_of_its_id(somebody: User) -> None:
    """Two that start alike are not guessed at."""
    with open_store(somebody.environment) as store:
        for key in ("abc1", "abc2", "b"):
            history = History(key)
            history.user("hi")
            store.add(history)

        assert find_session(store, "b") == "b" and find_session(store, "abc1") == "abc1"
        with pytest.raises(UsageError, match="2 sessions start with 'abc'; give more of the id"):
            find_session(store, "abc")
