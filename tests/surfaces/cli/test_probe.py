"""`turnout probe`: an unknown server becomes a target of the configuration."""

from __future__ import annotations

from pathlib import Path

from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import simulated

from turnout.simulate.model import demo
from turnout.world.config import load_config

ADDRESS = "OPENAI_BASE_URL"


def test_a_server_becomes_a_target_that_can_be_talked_to(tmp_path: Path) -> None:
    """Each request is told before it is sent; the target is used under its name, with any model."""
    with simulated(tmp_path, demo) as somebody:
        base = somebody.environment[ADDRESS].removesuffix("/v1")
        ran = run(
            somebody,
            *("probe", f"{base}/mistral/v1", "-m", "house-7b", "--name", "house"),
            *("--key-variable", "OPENAI_API_KEY"),
        )
        assert ran.code == 0, ran.out + ran.err
        assert " 1  one question of the user, in chat: accepted" in ran.out
        assert "uncertain" in ran.out and "turnout -m house:house-7b" in ran.out
        place = load_config(somebody.environment, tmp_path).target("house:house-7b")
        assert place.dialect.id_format == "mistral" and place.provider.base_url.endswith("/mistral/v1")
        assert run(somebody, "run", "-m", "house:house-7b", "-p", "hello").code == 0
        again = run(somebody, "probe", base, "-m", "m", "--name", "house")
        assert again.code == 2 and "another --name" in again.err


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """The table is printed as it would be written."""
    with simulated(tmp_path, demo) as somebody:
        base = somebody.environment[ADDRESS]
        ran = run(somebody, "probe", base, "-m", "m", "--dry-run", "--key-variable", "OPENAI_API_KEY")
        assert ran.code == 0 and "[targets.127-0-0-1]" in ran.out
        assert "targets" not in run(somebody, "config", "--json").out.replace('"targets"', "")


def test_a_wrong_address_is_told_at_once(tmp_path: Path) -> None:
    """No server, no address, or no key: what to do is said, and nothing is written."""
    with simulated(tmp_path, demo) as somebody:
        silent = run(somebody, "probe", "http://127.0.0.1:1/v1", "-m", "m")
        assert silent.code == 2 and "check the address" in silent.err
        assert run(somebody, "probe", "nonsense").code == 2
        unset = run(somebody, "probe", "http://127.0.0.1:1/v1", "--key-variable", "NOT_SET")
        assert unset.code == 2 and "NOT_SET is not set" in unset.err
