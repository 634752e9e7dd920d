"""`turnout run` against simulated providers: formats, exit codes, options, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated, user

from turnout.model import Usage
from turnout.providers import prices
from turnout.simulate import Call, Ends, HttpError, Say, Think, Truncate
from turnout.simulate.model import demo
from turnout.store import open_store
from turnout.surfaces.cli.run_result import Line, RunResult, schema
from turnout.world.config import DEFAULT_MODELS

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"
OPENAI = ("-m", "openai:gpt-4o")


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


def published(name: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads((SCHEMAS / name).read_text()))


@pytest.mark.parametrize(("name", "kind"), [("run-result.json", RunResult), ("run-event.json", Line)])
def test_the_published_schema_is_the_one_in_force(name: str, kind: object) -> None:
    """A change of the result changes its schema, on purpose: `python -m tests.surfaces.cli.publish`."""
    found = json.loads((SCHEMAS / name).read_text())
    assert without_words(found) == without_words(json.loads(json.dumps(schema(kind))))


def without_words(schema: object) -> object:
    """A schema without its descriptions, which bind nobody."""
    if isinstance(schema, dict):
        return {key: without_words(value) for key, value in schema.items() if key != "description"}
    return [without_words(value) for value in schema] if isinstance(schema, list) else schema


def test_text_is_the_answer_and_nothing_else(somebody: User) -> None:
    """stdout holds the answer only; progress is on stderr, and nothing else while the model is current."""
    ran = run(somebody, "run", "-m", f"openai:{DEFAULT_MODELS['openai']}", "-p", "read README.md")

    assert ran.code == 0
    assert ran.out.startswith("`read_file` on `README.md` (2 lines):")
    assert ran.err == "read_file: executing\n"


def test_json_is_one_valid_object(somebody: User) -> None:
    """The result is one object that its published schema accepts."""
    ran = run(somebody, "run", *OPENAI, "-p", "read README.md", "--output-format", "json")

    published("run-result.json").validate(ran.result)
    assert len(ran.out.splitlines()) == 1
    assert (ran.result["status"], ran.result["turns"], ran.result["exit_code"]) == ("complete", 2, 0)
    assert ran.result["usage"]["openai:gpt-4o"]["output"] > 0 and ran.result["cost_usd"] > 0


def test_stream_json_is_every_event_and_the_result_last(somebody: User) -> None:
    """Each line is a valid event; the last one is the result."""
    ran = run(somebody, "run", *OPENAI, "-p", "read README.md", "--output-format", "stream-json")

    lines = [json.loads(line) for line in ran.out.splitlines()]
    for line in lines:
        published("run-event.json").validate(line)
    kinds = [line["type"] for line in lines]
    assert kinds[-1] == "result"
    assert {"tool_call_start", "tool_state", "tool_result", "text_delta", "usage", "done"} <= set(kinds)
    said = "".join(line["text"] for line in lines if line["type"] == "text_delta")
    assert said == ran.result["text"]


def test_whatever_happens_every_line_is_valid(tmp_path: Path) -> None:
    """A subagent, a reply that breaks off, a switch, a denial, a limit, a failure: all as published."""
    task = [Call("task", {"prompt": "look"})]
    script = {
        "openai": [
            [Think("Hm."), *task],
            [Call("read_file", {"path": "app.py"})],
            "Looked.",
            [Say("Half a"), Truncate(after=3)],
            *[HttpError("overloaded")] * 9,
        ],
        "anthropic": [[Think("Mine now."), Call("shell", {"command": "touch x"})], "Done."],
    }
    ask = (*OPENAI, "--fallback", "anthropic:claude-sonnet-4-5", "--output-format", "stream-json")
    with simulated(tmp_path, script) as user:
        ran = run(user, "run", *ask, "-p", "go", "--deny", "shell")
    with simulated(tmp_path, [*[[Call("read_file", {"path": "app.py"})]] * 3, "Enough."]) as user:
        limited = run(user, "run", *ask, "-p", "go", "--max-turns", "2")
    with simulated(tmp_path, [HttpError("auth", message="no")]) as user:
        failed = run(user, "run", *OPENAI, "--output-format", "stream-json", "-p", "go")

    lines = [json.loads(line) for each in (ran, limited, failed) for line in each.out.splitlines()]
    for line in lines:
        published("run-event.json").validate(line)
    results = [line for line in lines if line["type"] == "result"]
    for result in results:
        published("run-result.json").validate(result)
    assert [(result["status"], result["exit_code"]) for result in results] == [
        ("refused", 5),
        ("limit", 4),
        ("failed", 3),
    ]
    assert {"nested", "discarded", "status", "thinking_delta", "tool_result"} <= {
        line["type"] for line in lines
    }
    assert results[0]["denials"][0]["tool"] == "shell" and results[2]["error"]["kind"] == "auth"


def test_stdin_is_context_and_files_can_be_named(somebody: User) -> None:
    """What is piped in is only text: an @ in it reads nothing."""
    run(somebody, "run", *OPENAI, "-p", "look at @app.py", stdin=b"piped @README.md \xff")

    body = somebody.simulation.exchanges[0].body.decode()  # type: ignore[union-attr]
    assert "The file app.py" in body and "piped @README.md" in body and "A small project" not in body


def test_a_prompt_may_come_from_stdin_alone(somebody: User) -> None:
    """Without -p the text on stdin is the prompt."""
    assert run(somebody, "run", *OPENAI, stdin="hello there").out.startswith("You said: hello there")


def test_sessions_go_on_by_c_r_and_fork(somebody: User) -> None:
    """-c goes on with the latest, -r with any, --fork leaves the old one as it was."""
    first = run(somebody, "run", *OPENAI, "-p", "read README.md", "--output-format", "json").result
    second = run(somebody, "run", "-c", "-p", "and?", "--output-format", "json").result
    third = run(
        somebody, "run", "-r", first["session_id"][:6], "--fork", "-p", "so?", "--output-format", "json"
    )

    assert second["session_id"] == first["session_id"]
    assert list(second["usage"]) == ["openai:gpt-4o"]  # with whom it was
    assert third.result["session_id"] != first["session_id"]
    assert "I know 1 tool result" in third.result["text"]
    with open_store(somebody.environment) as store:
        assert len(store.read(first["session_id"]).turns) == 5
        assert len(store.read(third.result["session_id"]).turns) == 7


def test_c_goes_on_with_the_latest_session_of_this_folder(somebody: User) -> None:
    """A later session of another folder is not it; a folder without one says what to do."""
    here = run(somebody, "run", *OPENAI, "-p", "here", "--output-format", "json").result
    other, empty = somebody.folder.parent / "other", somebody.folder.parent / "empty"
    other.mkdir()
    empty.mkdir()
    run(somebody, "run", *OPENAI, "-p", "there", "--cwd", str(other))
    again = run(somebody, "run", "-c", "-p", "and?", "--output-format", "json").result
    refused = run(somebody, "run", "-c", "-p", "and?", "--cwd", str(empty))
    assert again["session_id"] == here["session_id"]
    assert refused.code and "no session of" in refused.err and "-r" in refused.err


def test_nothing_is_kept_when_asked(somebody: User) -> None:
    """`--no-store` leaves no session behind."""
    assert run(somebody, "run", *OPENAI, "-p", "hello", "--no-store").code == 0
    assert not list(somebody.home.rglob("*"))


def test_an_answer_of_a_given_shape(tmp_path: Path) -> None:
    """The typed value is in the result; an answer that does not fit is a failure that says so."""
    shape = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    with simulated(tmp_path, ['{"n": 3}', '{"n": "three"}']) as user:
        good = run(user, "run", *OPENAI, "-p", "count", "--json-schema", shape, "--output-format", "json")
        bad = run(user, "run", *OPENAI, "-p", "count", "--json-schema", shape)

    assert good.result["output"] == {"n": 3}
    assert bad.code == 1 and "does not fit" in bad.err and bad.out == ""


def test_rules_decide_what_runs(somebody: User) -> None:
    """Nobody can be asked: what would be asked for is refused, what is allowed runs, a denial wins."""
    ask = ("run", *OPENAI, "-p", "run `touch made`", "--output-format", "json")
    made = somebody.folder / "made"

    refused = run(somebody, *ask)
    assert (refused.code, refused.result["status"], made.exists()) == (5, "refused", False)
    assert refused.result["denials"][0]["tool"] == "shell"
    assert run(somebody, *ask, "--allow", "shell(touch*)", "--deny", "shell").code == 5
    assert run(somebody, *ask, "--approval-mode", "plan").result["text"]
    assert not made.exists()
    assert run(somebody, *ask, "--allow", "shell(touch*)").code == 0 and made.exists()


def test_limits_end_a_run_with_4(tmp_path: Path) -> None:
    """A limit on rounds or cost ends the run with exit code 4."""
    calls = [[Call("read_file", {"path": f"{number}"})] for number in range(9)]
    with simulated(tmp_path, [*calls[:2], "Enough."]) as user:
        rounds = run(user, "run", *OPENAI, "-p", "go", "--max-turns", "2", "--output-format", "json")
    with simulated(tmp_path, calls) as user:
        budget = run(
            user, "run", *OPENAI, "-p", "go", "--max-budget-usd", "0.000001", "--output-format", "json"
        )

    with simulated(tmp_path, calls) as user:
        endless = run(user, "run", *OPENAI, "-p", "go", "--max-turns", "2", "--output-format", "json")

    assert (rounds.code, rounds.result["status"], rounds.result["text"]) == (4, "limit", "Enough.")
    assert rounds.result["turns"] == endless.result["turns"] == 3  # our own last word is no model's
    assert (budget.code, budget.result["status"]) == (4, "limit")
    assert "used up" in budget.result["error"]["message"]


NEW = ("run", "-m", "openai:brand-new", "-p", "go", "--max-budget-usd", "1", "--output-format", "json")


def test_a_budget_for_a_model_without_a_price_refuses_to_start(tmp_path: Path) -> None:
    """Nothing is sent; the words say how to give the price."""
    with simulated(tmp_path, ["Hi."]) as user:
        ran = run(user, *NEW)
        assert (ran.code, user.statuses) == (2, [])
    assert "no price is known for openai:brand-new" in ran.err
    assert '[models."openai:brand-new"] price = {input = …, output = …}' in ran.err


def test_a_price_in_the_configuration_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run starts, its cost is told by that price, and the budget ends it."""
    monkeypatch.setattr(prices, "PRICES_BY_PROVIDER", {})
    calls: list[Any] = [[Call("read_file", {"path": "app.py"}), Usage(input=400_000, output=1_000)]] * 3
    with simulated(tmp_path, calls) as user:
        config = user.home / ".config/turnout/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('[models."openai:brand-new"]\nprice = {input = 1.5, output = 10}\n')
        ran = run(user, *NEW)
        assert len(user.statuses) == 2
    assert (ran.code, ran.result["status"]) == (4, "limit")
    assert ran.result["cost_usd"] == pytest.approx(2 * (0.6 + 0.01))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[models."openai:new"]\nprice = {input = -1, output = 1}', "price.input"),
        ('[models."openai:new"]\nprice = {input = 1}', "output"),
        ('[models."nobody:new"]\nprice = {input = 1, output = 1}', "nobody"),
        ("[models.openai]\nprice = {input = 1, output = 1}", "provider:model"),
    ],
)
def test_a_price_that_makes_no_sense_is_named(tmp_path: Path, text: str, said: str) -> None:
    """Exit code 3, with the name of the setting and what was expected."""
    with simulated(tmp_path, ["Hi."]) as user:
        config = user.home / ".config/turnout/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(text)
        ran = run(user, *NEW)
    assert ran.code == 3 and said in ran.err


def test_providers_that_fail_end_a_run_with_1(tmp_path: Path) -> None:
    """A provider error ends the run with exit code 1."""
    with simulated(tmp_path, [HttpError("not_found", message="no such model")]) as user:
        ran = run(user, "run", *OPENAI, "-p", "go", "--output-format", "json")

    assert (ran.code, ran.result["status"]) == (1, "failed")
    assert ran.result["error"]["kind"] == "not_found" and "no such model" in ran.err
    published("run-result.json").validate(ran.result)


def test_fallback_goes_on_elsewhere(tmp_path: Path) -> None:
    """When the first model fails, the fallback answers."""
    script = {"openai": [HttpError("overloaded")] * 9, "anthropic": ["Here I am."]}
    with simulated(tmp_path, script) as user:
        ran = run(user, "run", *OPENAI, "--fallback", "anthropic:claude-sonnet-4-5", "-p", "go")

    assert (ran.code, ran.out) == (0, "Here I am.\n")
    assert "switched: " in ran.err


def test_a_refusal_of_the_model_is_5(tmp_path: Path) -> None:
    """An answer that the model refuses ends with exit code 5."""
    with simulated(tmp_path, [[Say("I cannot."), Ends("refused")]]) as user:
        assert run(user, "run", "-m", "anthropic:claude-sonnet-4-5", "-p", "go").code == 5


def test_keys_and_configuration_end_a_run_with_3(tmp_path: Path) -> None:
    """A key that is wrong, no key at all, a file that makes no sense."""
    with simulated(tmp_path, demo, keys=["right"]) as wrong:
        assert run(wrong, "run", *OPENAI, "-p", "go").code == 3
    nobody = user(tmp_path)
    assert run(nobody, "run", "-p", "go").code == 3
    assert run(nobody, "run", *OPENAI, "-p", "go").code == 3
    settings = nobody.home / ".config/turnout/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("model = [")
    ran = run(nobody, "run", "-p", "go")
    assert ran.code == 3 and "config.toml" in ran.err
    settings.write_text('modle = "x"')
    assert "The settings are" in run(nobody, "run", "-p", "go").err


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "-m", "nobody:x", "-p", "go"),
        ("run", "-p", "go", "--cwd", "/nowhere"),
        ("run", "-p", "go", "--json-schema", "[]"),
        ("run", "-p", "go", "--fork"),
        ("run", "-p", "go", "-r", "no such session"),
        ("run", "-p", "go", "-c", "--no-store"),
        ("run", "-p", "go", "-c", "-r", "s1"),
        ("run", "-p", "  "),
        ("run", "-p", "go", "--json-schema", '{"type": 5}'),
        ("run", "-p", "go", "--max-budget-usd", "nan"),
        ("run", "-p", "go", "--debug", "/nowhere/log"),
        ("run", "-p", "go", "--allow"),
        ("run", "-p", "go", "--allow", "shell("),
        ("run", "-p", "go", "--deny", ""),
        ("run", "-p", "go", "--deny", "shel"),
        ("run", "-p", "go", "-m", "ollama"),
        ("nonsense",),
    ],
)
def test_wrong_use_ends_with_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """And says the way on, without a traceback."""
    ran = run(user(tmp_path, "http://127.0.0.1:9"), *arguments)

    assert ran.code == 2
    assert ran.err and "Traceback" not in ran.err and ran.out == ""


def test_a_rule_about_no_tool_is_told_the_nearest(tmp_path: Path) -> None:
    """A denial that meets nothing would protect from nothing; tools of MCP servers may come later."""
    with simulated(tmp_path, ["Hello."]) as somebody:
        ask = ("run", *OPENAI, "-p", "go", "--deny")
        assert "did you mean shell?" in run(somebody, *ask, "shel").err
        assert run(somebody, *ask, "mcp__git__push", "--deny", "*_file").code == 0


def test_a_provider_alone_means_its_usual_model(somebody: User) -> None:
    """`-m` with a provider's name uses its default model."""
    ran = run(somebody, "run", "-m", "moonshot", "-p", "hello", "--output-format", "json")

    assert list(ran.result["usage"]) == ["kimi:kimi-k3"]


def test_what_a_model_writes_steers_no_terminal(tmp_path: Path) -> None:
    """In every format; programs still get the very text."""
    evil = "\x1b]0;owned\x07a\x9b2J\u202e\x7f\u2028b"
    with simulated(tmp_path, [[Think(evil), Say(evil)]] * 3) as user:
        text = run(user, "run", *OPENAI, "-p", "go")
        whole = run(user, "run", *OPENAI, "-p", "go", "--output-format", "json")
        stream = run(user, "run", *OPENAI, "-p", "go", "--output-format", "stream-json")

    for ran in (text, whole, stream):
        assert all(letter in "\n\t" or letter >= " " for letter in ran.out)
        assert not any("\x7f" <= letter <= "\x9f" for letter in ran.out)
    assert whole.result["text"] == stream.result["text"] == evil


def test_the_project_speaks_to_the_model_and_system_can_be_replaced(somebody: User) -> None:
    """The project's instructions are in the system prompt; `--system` replaces ours."""
    (somebody.folder / "AGENTS.md").write_text("Always say please.")
    run(somebody, "run", *OPENAI, "-p", "hello")
    run(somebody, "run", *OPENAI, "-p", "hello", "--system", "You are a bird.")

    first, second = (seen.body.decode() for seen in somebody.simulation.exchanges)  # type: ignore[union-attr]
    assert "Always say please." in first and "You are turnout" in first
    assert "You are a bird." in second and "You are turnout" not in second


FAMILIES = (
    "openai-responses:gpt-5.1",
    "openai:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-3-pro",
    "mistral:mistral-large-latest",
    "kimi:kimi-k2.5",
    "deepseek:deepseek-chat",
    "openrouter:anthropic/claude-sonnet-4.5",
)


@pytest.mark.parametrize("name", FAMILIES)
def test_understand_the_code_then_ask_on_elsewhere(somebody: User, tmp_path: Path, name: str) -> None:
    """The overview tool is called and told of, a follow-up at the next family works, and no status is 400."""
    log = str(tmp_path / "debug.log")
    first = run(somebody, "run", "-m", name, "-p", "understand the code", "--debug", log)
    following = FAMILIES[(FAMILIES.index(name) + 1) % len(FAMILIES)]
    second = run(somebody, "run", "-c", "-m", following, "-p", "and what was the last thing?", "--debug", log)

    assert "codebase_overview: executing" in first.err and "README.md" in first.out
    assert "I know 2 tool results" in second.out
    entries = [json.loads(line) for line in Path(log).read_text().splitlines()]
    assert [entry["what"] for entry in entries] == ["request", "reply"] * 4
    assert {entry["status"] for entry in entries[1::2]} == {200}
    assert set(somebody.statuses) == {200}
