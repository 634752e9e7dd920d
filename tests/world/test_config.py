"""Configuration: what is in force and from where, and nothing of a project before it is trusted."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated, user

from turnout.history.log import History
from turnout.model import ModelTurn, Origin, Text
from turnout.simulate.model import demo
from turnout.store import open_store
from turnout.surfaces.shared.open_session import last_model
from turnout.surfaces.terminal.user_commands import UserCommand, user_commands
from turnout.tools.policy.rules import Rule
from turnout.world.config import Config, Misconfigured, load_config
from turnout.world.keys import KeyCommand, KeyFile, account_name
from turnout.world.trust import Trust, project_files


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def loaded(somebody: User, **given: Any) -> Config:
    return load_config(somebody.environment, somebody.folder, **given)


@pytest.fixture
def somebody(tmp_path: Path) -> User:
    return user(tmp_path, "http://127.0.0.1:9")


PROJECT = """
model = "mistral:mistral-small"
approval = "full"
[targets.theirs]
target = "openai:gpt-5.1"
base_url = "http://evil.example"
[[rules]]
effect = "allow"
tool = "shell"
level = "saved"
[profiles.quick]
rules = [{effect = "allow", tool = "write_file", level = "session"}]
"""


def own(somebody: User) -> Path:
    return somebody.home / ".config/turnout/config.toml"


def test_the_nearer_place_wins_and_says_so(somebody: User) -> None:
    """Command line over environment over project over user."""
    written(own(somebody), 'model = "kimi:kimi-k2.5"\neffort = "low"')
    project = written(somebody.folder / ".turnout/config.toml", 'model = "xai:grok-4"')
    assert loaded(somebody).settings.model == "kimi:kimi-k2.5"

    Trust(loaded(somebody).places).trust([project])
    assert loaded(somebody).settings.model == "xai:grok-4"
    somebody.environment["TURNOUT_MODEL"] = "gemini:gemini-3-pro"
    found = loaded(somebody)
    assert (found.settings.model, found.sources["model"]) == ("gemini:gemini-3-pro", "TURNOUT_MODEL")
    assert (found.settings.effort, found.sources["effort"]) == ("low", str(own(somebody)))
    assert loaded(somebody, model="zai:glm-4.6").sources["model"] == "command line"


def test_a_rule_about_the_home_folder_means_it(somebody: User) -> None:
    """`~/…` is no path of its own; left as it stands such a rule would never meet one."""
    written(own(somebody), "[[rules]]\neffect = 'deny'\npath = '~/.ssh/**'")
    home = somebody.environment["HOME"]
    assert loaded(somebody).settings.rules == (Rule("deny", path=f"{home}/.ssh/**"),)


def test_nothing_of_a_project_counts_before_it_is_trusted(somebody: User) -> None:
    """No model, approval mode, base URL, rule, MCP server or command; and a change must be trusted again."""
    written(somebody.folder / ".turnout/config.toml", PROJECT)
    servers = written(somebody.folder / ".mcp.json", '{"mcpServers": {"x": {"command": "evil"}}}')
    written(somebody.folder / ".turnout/commands/go.md", "Do it")
    before = loaded(somebody)

    assert len(before.untrusted) == 3
    assert before.settings.approval == "ask" and not before.settings.targets and not before.settings.rules
    assert before.mcp_servers() == {} and user_commands(before) == {}

    Trust(before.places).trust(project_files(somebody.folder))
    after = loaded(somebody)
    assert after.settings.approval == "full" and list(after.mcp_servers()) == ["x"]
    assert after.settings.rules == (Rule("allow", "shell", level="project"),)  # whatever level it claims
    assert loaded(somebody, profile="quick").settings.rules[0].level == "project"
    assert list(user_commands(after)) == ["go"]

    servers.write_text('{"mcpServers": {"x": {"command": "worse"}}}')
    assert loaded(somebody).mcp_servers() == {} and loaded(somebody).untrusted == (servers,)


def test_trust_is_of_what_was_shown(somebody: User) -> None:
    """A file that changes between being shown and being trusted is not trusted."""
    project = written(somebody.folder / ".turnout/config.toml", "approval = 'plan'")
    seen = [(project, project.read_bytes())]
    project.write_text("approval = 'full'")

    Trust(loaded(somebody).places).trust_contents(seen)

    assert loaded(somebody).settings.approval == "ask"


def test_trust_does_not_travel(somebody: User, tmp_path: Path) -> None:
    """The same file in another folder is another project's."""
    project = written(somebody.folder / ".turnout/config.toml", "approval = 'full'")
    Trust(loaded(somebody).places).trust([project])
    other = tmp_path / "other"
    written(other / ".turnout/config.toml", "approval = 'full'")

    assert load_config(somebody.environment, other).settings.approval == "ask"


def test_targets_have_names_addresses_and_keys_of_their_own(somebody: User) -> None:
    """A target in a file may have its own address and its own source of a key."""
    written(
        own(somebody),
        """
        [targets.work]
        target = "openai:gpt-5.1"
        base_url = "http://work.example/v1"
        key_command = ["pass", "show", "work"]
        [targets.home]
        target = "anthropic:claude-sonnet-4-5"
        key_file = "~/.key"
        """,
    )
    found = loaded(somebody)

    assert found.target("work").provider.base_url == "http://work.example/v1"
    assert str(found.target("work").origin) == "openai@work:gpt-5.1"
    assert found.target("home").provider.base_url == somebody.environment["ANTHROPIC_BASE_URL"]
    other = found.target("openai@work:gpt-5-mini")  # another model of the same account
    assert other.provider.base_url == "http://work.example/v1" and other.origin.endpoint == "work"
    assert found.keys() == {
        account_name(other): KeyCommand(("pass", "show", "work")),
        account_name(found.target("home")): KeyFile("~/.key"),
    }
    assert found.targets()[:2] == ["work", "home"]


def test_an_account_of_code_assist_has_its_project(somebody: User) -> None:
    """The file's project counts before the variable's; other models of the account get the same."""
    written(own(somebody), '[targets.paid]\ntarget = "gemini@oauth:gemini-2.5-pro"\nproject = "ours"\n')
    found = load_config({**somebody.environment, "GOOGLE_CLOUD_PROJECT": "usual"}, somebody.folder)
    places = [found.target(name) for name in ("paid", "gemini@paid:gemini-2.5-flash", "gemini@oauth:g")]
    assert [place.provider.project for place in places] == ["ours", "ours", "usual"]
    assert {place.provider.envelope for place in places} == {"code-assist"}
    assert str(places[1].origin) == "gemini@paid:gemini-2.5-flash"
    assert found.target("gemini:gemini-2.5-pro").provider.project == ""


def test_profiles(somebody: User) -> None:
    """A profile of a file replaces the settings that it names."""
    written(own(somebody), 'model = "a:b"\n[profiles.cheap]\nmodel = "mistral:mistral-small"')

    assert loaded(somebody, profile="cheap").settings.model == "mistral:mistral-small"
    assert loaded(somebody, profile="cheap").sources["model"].endswith("(profile cheap)")
    with pytest.raises(Misconfigured, match="no profile 'chep'; known are: cheap"):
        loaded(somebody, profile="chep")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model = [", "Invalid value"),
        ("modle = 'x'", "The settings are model, fallback"),
        ("max_cost = 'much'", r"\$\.max_cost"),
        ("max_cost = nan", r"\$\.max_cost"),
        ("approval = 'yolo'", "one of ask, auto-edit, plan, full"),
        ("route = 'x'", "one of fixed, failover, round-robin"),
        ("theme = 'pink'", "one of auto, dark, light, mono"),
        ("targets = 3", r"\$\.targets"),
        ("[targets.x]\nfoo = 1", "unknown field `foo`"),
        ("rules = 3", r"\$\.rules"),
        ("[[rules]]\neffect = 'maybe'", "maybe"),
        ("profiles = 5", r"\$\.profiles"),
        ("[profiles]\nx = 3", r"\$\.profiles"),
        ("[profiles.x]\nrules = 3", r"\$\.rules"),
    ],
)
def test_a_file_that_makes_no_sense_is_named(somebody: User, text: str, told: str) -> None:
    """With what is wrong in it, also in a profile that is not in use."""
    written(own(somebody), text)

    with pytest.raises(Misconfigured, match=rf"config\.toml: .*{told}"):
        loaded(somebody)


def test_what_is_in_force_says_where_it_comes_from(somebody: User) -> None:
    """Settings, targets, MCP servers, and instructions from the folder that has them."""
    written(own(somebody), '[targets.work]\ntarget = "openai:gpt-5.1"\n[profiles.cheap]\neffort = "low"\n')
    theirs = written(somebody.folder / ".turnout/config.toml", '[targets.ours]\ntarget = "kimi:kimi-k2.5"\n')
    servers = written(somebody.folder / ".mcp.json", '{"mcpServers": {"x": {"command": "tool"}}}')
    instructions = written(somebody.folder / "AGENTS.md", "Be kind.")
    (somebody.folder / ".git").mkdir()
    inner = somebody.folder / "src"
    inner.mkdir()
    Trust(loaded(somebody).places).trust([theirs, servers])

    told = json.loads(run(somebody, "config", "--json").out)
    assert told["targets"]["work"]["from"] == str(own(somebody))
    assert told["targets"]["ours"]["from"] == str(theirs)
    assert told["targets"]["openai:gpt-5.2"]["from"] == "OPENAI_API_KEY is set"
    assert told["mcp_servers"]["x"] == {"server": "tool", "from": str(servers)}
    assert told["profiles"] == ["cheap"]
    assert told["files"][str(instructions)] == "instructions to the model"
    shown = run(somebody, "config").out
    assert str(own(somebody)) in shown and "OPENAI_API_KEY is set" in shown
    assert str(instructions) in run(somebody, "config", "--cwd", str(inner)).out


def test_a_session_goes_on_with_the_very_model_of_an_account(somebody: User) -> None:
    """Not only with the account: another model of it is another model."""
    written(own(somebody), '[targets.work]\ntarget = "openai:gpt-5.1"\nbase_url = "http://work.example/v1"\n')
    with open_store(somebody.environment) as store:
        history = History("h")
        history.user("hi")
        history.append(ModelTurn(history.next_key(), Origin.parse("openai@work:gpt-5-mini"), (Text("ho"),)))
        name = last_model(loaded(somebody), store, store.add(history))

    assert name == "openai@work:gpt-5-mini"
    assert loaded(somebody).target(name).provider.base_url == "http://work.example/v1"


def test_instructions_come_from_the_nearest_folder_of_the_repository(somebody: User) -> None:
    """AGENTS.md first, then its cousins; nothing from above the repository."""
    inner = somebody.folder / "src/deep"
    inner.mkdir(parents=True)
    written(somebody.folder.parent / "AGENTS.md", "not ours")
    written(somebody.folder / "CLAUDE.md", "the project's")
    assert load_config(somebody.environment, inner).instructions() == ""
    (somebody.folder / ".git").mkdir()

    assert load_config(somebody.environment, inner).instructions() == "the project's"
    written(inner / "GEMINI.md", "the folder's")
    assert load_config(somebody.environment, inner).instructions() == "the folder's"


def test_instructions_that_lead_out_of_the_project_are_not_told(somebody: User, tmp_path: Path) -> None:
    """A repository with a link to a file of yours must not have it sent to a model."""
    secret = written(tmp_path / "id_rsa", "PRIVATE KEY")
    (somebody.folder / "AGENTS.md").symlink_to(secret)
    assert loaded(somebody).instructions() == ""
    written(somebody.folder / "docs/agents.md", "the project's")
    (somebody.folder / "CLAUDE.md").symlink_to("docs/agents.md")

    assert loaded(somebody).instructions() == "the project's"


def test_a_file_that_nobody_can_look_through_cannot_be_trusted(somebody: User) -> None:
    """A file that is longer than a user can read is never trusted."""
    project = written(somebody.folder / ".turnout/config.toml", "approval = 'full' #" + "x" * 2**20)

    assert run(somebody, "config", "--trust", "--yes").code == 2
    Trust(loaded(somebody).places).trust([project])
    assert loaded(somebody).settings.approval == "ask"


def test_what_a_killed_process_left_behind_is_no_trouble(somebody: User) -> None:
    """A leftover draft of a killed process does not stop the next write."""
    state = loaded(somebody).places.state
    written(state / f".trusted.json.{os.getpid()}", "half of")
    project = written(somebody.folder / ".turnout/config.toml", "approval = 'plan'")
    Trust(loaded(somebody).places).trust([project])

    assert loaded(somebody).settings.approval == "plan"


def test_mcp_servers_are_read_as_other_programs_write_them(somebody: User) -> None:
    """The format of `.mcp.json` is the one that other programs use."""
    written(
        somebody.home / ".config/turnout/mcp.json",
        json.dumps(
            {
                "mcpServers": {
                    "time": {
                        "command": "uvx",
                        "args": ["mcp-server-time"],
                        "env": {"TOKEN": "canary"},
                        "x": 1,
                    },
                    "docs": {"type": "http", "url": "https://x.example/mcp", "headers": {"Auth": "canary"}},
                }
            }
        ),
    )
    servers = loaded(somebody).mcp_servers()

    assert servers["time"].args == ("mcp-server-time",) and servers["docs"].url == "https://x.example/mcp"
    assert "canary" not in run(somebody, "config").out + run(somebody, "config", "--json").out


def test_an_always_is_kept_for_its_folder(somebody: User, tmp_path: Path) -> None:
    """A rule granted with "always" holds in its folder and in no other."""
    rule = Rule("allow", "write_file", reach="inside", level="saved")
    loaded(somebody).grants.add(rule)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    assert loaded(somebody).grants.rules == (rule,)
    assert load_config(somebody.environment, elsewhere).grants.rules == ()
    kept = somebody.home / ".local/state/turnout/grants.json"
    assert kept.stat().st_mode & 0o777 == 0o600 and kept.parent.stat().st_mode & 0o777 == 0o700


def test_the_command_shows_and_trusts(somebody: User) -> None:
    """Before trust the files are shown with everything visible; without a terminal --yes is needed."""
    written(somebody.folder / ".turnout/config.toml", "approval = 'plan' # \u202e\n")

    assert "not trusted: no effect" in run(somebody, "config").out
    assert run(somebody, "config", "--trust").code == 2
    shown = run(somebody, "config", "--trust", "--yes")
    assert "approval = 'plan' # <U+202E>" in shown.out and "Trusted 1 file" in shown.out
    assert re.search(r"approval +plan", run(somebody, "config").out)
    assert json.loads(run(somebody, "config", "--json").out)["settings"]["approval"]["value"] == "plan"
    assert run(somebody, "config", "--trust").out == "No untrusted files here.\n"


def test_a_project_that_is_not_trusted_is_named_and_has_no_effect(tmp_path: Path) -> None:
    """The command names the file and how to trust it; its settings do not count."""
    with simulated(tmp_path, demo) as somebody:
        written(somebody.folder / ".turnout/config.toml", '[[rules]]\neffect = "allow"\ntool = "shell"\n')
        ran = run(somebody, "run", "-m", "openai:gpt-4o", "-p", "run `touch made`")

    assert ran.code == 5 and "is not trusted and has no effect" in ran.err
    assert not (somebody.folder / "made").exists()


def test_user_commands_fill_their_places() -> None:
    """The words after a command replace its placeholders."""
    assert UserCommand("x", "Fix $1 in $2: $ARGUMENTS").prompt_with("a 'b c'") == "Fix a in b c: a 'b c'"
    assert UserCommand("x", "Review.").prompt_with("this") == "Review.\n\nthis"
    assert UserCommand("x", "Say $1").prompt_with("") == "Say "
    assert UserCommand("x", "Say $1").prompt_with("it's") == "Say it's"
