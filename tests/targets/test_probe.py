"""The machine that finds out how a server wants to be spoken to, against every simulated provider."""

from __future__ import annotations

import pytest
from bench.hostile import histories

from turnout import ingest, render
from turnout.providers import PROVIDERS
from turnout.simulate import Say, Simulation, Think
from turnout.simulate.simulation import SimulatedExchange
from turnout.targets.probe import MOST_REQUESTS, ProbeAnswer, ProbeFinding, ServerProbe

MODELS = {
    "openai": ("gpt-4o", "o3"),
    "gemini": ("gemini-3-pro-preview",),
    "mistral": ("mistral-large-latest",),
    "kimi": ("kimi-k2.5", "kimi-k2-thinking"),
    "deepseek": ("deepseek-chat", "deepseek-v4-pro"),
    "openrouter": ("google/gemini-3-pro-preview", "anthropic/claude-sonnet-4.5"),
}
"""Models whose names change the rules of their provider; all are also asked under a name nobody knows."""
SERVERS = [
    (name, model)
    for name, provider in PROVIDERS.items()
    if provider.dialect.api in ("chat", "responses", "anthropic", "gemini")
    for model in ("house-7b", *MODELS.get(name, ()))
]
KEY = {"authorization": "Bearer k"}


def play(name: str) -> Simulation:
    """The provider of that name at any address, strict; it thinks where it can."""
    return Simulation(lambda asked: [Think("Hm."), Say("Hi.")], provider=name)


def explore(server: Simulation | OnlyAt, model: str, **limits: float) -> ServerProbe:
    probe = ServerProbe("http://192.0.2.1/v1", model, "house", **limits)  # type: ignore[arg-type]
    while (asked := probe.next_request()) is not None:
        answer = server.answer(asked.request.url, {**asked.request.headers, **KEY}, asked.request.body)
        probe.read_answer(ProbeAnswer(answer.status, answer.headers, answer.body))
    return probe


class OnlyAt:
    """A server that knows one path: everything else is not found."""

    def __init__(self, server: Simulation, path: str) -> None:
        self._server, self._path = server, path

    def answer(self, url: str, headers: dict[str, str], body: bytes) -> ProbeAnswer:
        if self._path not in url:
            return ProbeAnswer(404, {}, b"not found")
        answer = self._server.answer(url, headers, body)
        return ProbeAnswer(answer.status, answer.headers, answer.body)


def refusals(server: Simulation, finding: ProbeFinding) -> list[SimulatedExchange]:
    """What the server refuses of the hundred hostile histories, in the dialect that was found."""
    assert finding.target is not None
    before = len(server.refusals)
    for at, history in enumerate(histories()):
        read = ingest(history.messages, "openai-chat", key="h")
        made = render(read, finding.target, tools=history.tools, stream=at % 2 == 0)
        assert server.answer(made.url, {**made.headers, **KEY}, made.body).status == 200
    return server.refusals[before:]


@pytest.mark.parametrize(("name", "model"), SERVERS)
def test_the_dialect_that_is_found_is_never_refused(name: str, model: str) -> None:
    """0 refusals on the hostile histories, at most 60 requests, and no bytes were sent twice."""
    server = play(name)
    probe = explore(server, model)
    assert 0 < probe.sent <= MOST_REQUESTS
    sent = [(seen.url, seen.body) for seen in server.exchanges]
    assert len(sent) == len(set(sent)) == probe.sent
    assert refusals(server, probe.findings) == []


@pytest.mark.parametrize(
    ("name", "path", "api", "model"),
    [
        ("ollama", "/api/chat", "ollama", "house-7b"),
        ("cohere", "/v2/chat", "cohere", "house-7b"),
        ("cohere", "/v2/chat", "cohere", "command-a-reasoning-08-2025"),
        ("bedrock", "/converse", "converse", "house-7b"),
        ("bedrock", "/converse", "converse", "us.anthropic.claude-sonnet-5"),
        ("bedrock", "/converse", "converse", "mistral.mistral-large-2407-v1:0"),
    ],
)
def test_a_server_with_an_api_of_its_own_is_found(name: str, path: str, api: str, model: str) -> None:
    """Ollama's, Cohere's and Bedrock's own API, where the server has no other."""
    server = play(name)
    probe = explore(OnlyAt(server, path), model)
    found = probe.findings
    assert found.target is not None and found.target.api == api and probe.sent <= MOST_REQUESTS
    assert refusals(server, found) == []


def test_a_server_that_speaks_nothing_we_know_gives_no_target() -> None:
    """Every protocol is tried once, and the probe ends."""
    probe = ServerProbe("http://192.0.2.1", "m", "house")
    while probe.next_request() is not None:
        probe.read_answer(ProbeAnswer(404, {}, b"{}"))
    assert probe.findings.target is None and probe.sent < 12


def test_a_probe_ends_at_each_of_its_limits() -> None:
    """The limit of requests and that of money; both are named as what is uncertain."""
    few = explore(play("openai"), "house-7b", most=5)
    assert few.sent == 5 and "which is the limit" in few.findings.uncertain[-1]
    cheap = explore(play("openai"), "house-7b", max_cost=0.00001)
    assert cheap.sent == 1 and "spent" in cheap.findings.uncertain[-1]


def test_a_server_that_refuses_everything_ends_within_the_limit() -> None:
    """Whatever it answers, never more than 60 requests."""
    probe = ServerProbe("http://192.0.2.1/v1", "m", "house")
    refused = b'{"error": {"message": "no"}}'
    while (asked := probe.next_request()) is not None:
        hello = asked.what.startswith(("one question", "a call with"))
        probe.read_answer(ProbeAnswer(200 if hello else 400, {}, refused if not hello else b"{}"))
    assert probe.sent <= MOST_REQUESTS
    assert probe.findings.uncertain


def test_what_was_learned_is_told() -> None:
    """The protocol, the shape of refusals, and each change with the words of the server."""
    learned = "\n".join(explore(play("mistral"), "house-7b").findings.learned)
    assert "speaks chat" in learned and "refuses with status" in learned and "id_format" in learned
