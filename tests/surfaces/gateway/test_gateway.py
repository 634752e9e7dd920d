"""One request from its checks to its record: routes, errors, failover, headers, pages."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.gateway.bodies import PATHS, body_of, path_of
from tests.surfaces.gateway.raw_clients import RawClient
from tests.surfaces.gateway.served import TOKEN, UPSTREAMS, ask, ask_once, environment_at, make_gateway

from turnout.simulate import Call, HttpError, MidStreamError, Say, ScriptedTransport, Stall, Think, Truncate
from turnout.surfaces.gateway.gateway import Gateway

HELLO = [{"role": "user", "content": "hello"}]
PROTOCOLS = list(PATHS)
KIMI = "kimi:kimi-k2.5"


def say(
    gateway: Gateway, protocol: str = "chat", model: str = KIMI, stream: bool = False, **headers: str
) -> Any:
    """One question in a protocol."""
    path, body = path_of(protocol, model, stream), body_of(protocol, model, HELLO, [], stream)
    return ask_once(gateway, "POST", path, body, **headers)


def error_text(answer: Any) -> str:
    return str(answer.json["error"]["message"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_names_its_target_and_its_request(protocol: str, stream: bool, tmp_path: Path) -> None:
    """The three headers are there, and the report of the request can be read by its id."""
    gateway = make_gateway(tmp_path, ["Hello there."])
    answer = say(gateway, protocol, stream=stream)
    assert answer.status == 200 and b"Hello there." in answer.body.replace(b'"}', b"")
    assert answer.headers["x-turnout-target"] == KIMI and answer.headers["x-turnout-repairs"].isdecimal()
    report = ask_once(gateway, "GET", f"/requests/{answer.headers['x-turnout-request']}.json").json
    assert (report["target"], report["status"], report["protocol"]) == (KIMI, 200, protocol)
    assert report["first_byte"] is not None and report["tokens"] > 0


@pytest.mark.parametrize(
    "path", ["/v1/models", "/v1beta/models", "/metrics", "/usage", "/requests/x.json", "/x"]
)
def test_every_page_needs_the_token(path: str, tmp_path: Path) -> None:
    """Without a token, with a wrong one, and with a provider's key it is 401."""
    gateway = make_gateway(tmp_path)
    for token in ("", "Bearer ", "Bearer wrong", "Bearer upstream-key-0", f"Basic {TOKEN}"):
        assert ask_once(gateway, "GET", path, authorization=token).status == 401
    assert ask_once(gateway, "GET", path).status != 401


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_refusals_have_the_callers_shape(protocol: str, tmp_path: Path) -> None:
    """401, 403, 421 and 415 are told as the caller's own API tells errors."""
    gateway = make_gateway(tmp_path)
    path, body = path_of(protocol, KIMI), body_of(protocol, KIMI, HELLO, [])
    for status, headers in (
        (401, {"authorization": ""}),
        (403, {"origin": "https://evil.example"}),
        (421, {"host": "evil.example"}),
        (415, {"content_type": "text/plain"}),
    ):
        answer = ask_once(gateway, "POST", path, body, **headers)
        assert answer.status == status and error_text(answer)
        told = answer.json["error"]
        if protocol == "anthropic":
            words = {401: "authentication_error", 403: "permission_error"}
            assert answer.json["type"] == "error"
            assert told["type"] == words.get(status, "invalid_request_error")
        elif protocol == "gemini":
            words = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED"}
            assert told["code"] == status and told["status"] == words.get(status, "INVALID_ARGUMENT")
        else:
            assert told["code"] == {401: "invalid_api_key"}.get(status)


def test_the_open_pages_show_no_data(tmp_path: Path) -> None:
    """`/` is one line of text, `/health` says ok; neither needs a token."""
    gateway = make_gateway(tmp_path)
    assert ask_once(gateway, "GET", "/", authorization="").body.count(b"\n") == 1
    assert ask_once(gateway, "GET", "/health", authorization="").json == {"status": "ok"}


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/nothing"), ("PUT", "/v1/models"), ("POST", "/health")]
)
def test_an_unknown_path_or_method_is_told_as_json(method: str, path: str, tmp_path: Path) -> None:
    """404 or 405."""
    answer = ask_once(make_gateway(tmp_path), method, path)
    assert answer.status == (404 if path == "/nothing" else 405) and error_text(answer)


def test_model_lists_have_the_shape_of_their_caller(tmp_path: Path) -> None:
    """OpenAI's, Anthropic's with `anthropic-version`, Gemini's; configured names and targets with keys."""
    gateway = make_gateway(tmp_path, settings='[gateway.models]\n"claude-big" = "kimi:kimi-k2.5"\n')
    chat = ask_once(gateway, "GET", "/v1/models").json
    claude = ask_once(gateway, "GET", "/v1/models?limit=1000", anthropic_version="2023-06-01").json
    gemini = ask_once(gateway, "GET", "/v1beta/models").json
    assert chat["object"] == "list" and claude["has_more"] is False
    names = [entry["id"] for entry in claude["data"]]
    assert names == [entry["id"] for entry in chat["data"]]
    assert [entry["name"] for entry in gemini["models"]] == [f"models/{name}" for name in names]
    assert "claude-big" in names and KIMI in names
    assert ask_once(gateway, "GET", "/v1/models/claude-big").json["id"] == "claude-big"
    assert ask_once(gateway, "GET", "/v1/models/no").status == 404


# Whom it asks


def test_a_list_is_an_order_of_failover(tmp_path: Path) -> None:
    """The second target answers where the first fails before its first event."""
    settings = '[gateway.models]\n"claude-*" = ["kimi:kimi-k2.5", "openai:gpt-4.1"]\n'
    gateway = make_gateway(
        tmp_path, {"kimi": [HttpError("overloaded")], "openai": ["Hello."]}, settings=settings
    )
    answer = say(gateway, "anthropic", "claude-opus-4")
    assert answer.status == 200 and answer.headers["x-turnout-target"] == "openai:gpt-4.1"
    assert answer.json["model"] == "claude-opus-4"


def test_a_server_that_says_200_and_then_nothing_is_left(tmp_path: Path) -> None:
    """The status is held until the first event, so the other target can still answer."""
    settings = '[gateway.models]\n"x" = ["kimi:kimi-k2.5", "openai:gpt-4.1"]\n'
    gateway = make_gateway(tmp_path, {"kimi": [[Truncate()]], "openai": ["Hello."]}, settings=settings)
    answer = say(gateway, "chat", "x", stream=True)
    assert answer.headers["x-turnout-target"] == "openai:gpt-4.1" and b"Hello." in answer.body


def test_the_header_overrides_the_model(tmp_path: Path) -> None:
    """`x-turnout-target` wins over every name."""
    gateway = make_gateway(tmp_path, ["Hello."], settings='[gateway]\ndefault = "kimi:kimi-k2.5"\n')
    answer = say(gateway, "chat", "anything", x_turnout_target="mistral:mistral-large-latest")
    assert answer.headers["x-turnout-target"] == "mistral:mistral-large-latest"


def test_a_projects_gateway_settings_do_not_count(tmp_path: Path) -> None:
    """A folder cannot say where the user's programs send their conversations."""
    from turnout.world.config import load_config
    from turnout.world.trust import Trust

    folder = tmp_path / "project"
    (folder / ".turnout").mkdir(parents=True)
    file = folder / ".turnout" / "config.toml"
    file.write_text('[gateway]\ndefault = "compatible:evil"\nhosts = ["evil.example"]\n')
    environment = environment_at(tmp_path)
    config = load_config(environment, folder)
    Trust(config.places).accept(file) if hasattr(Trust, "accept") else None
    config = load_config(environment, folder)
    assert config.settings.gateway.default == "" and not config.settings.gateway.hosts


# What a provider answers


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("step", "status"),
    [
        (HttpError("rate_limit", retry_after=7), 429),
        (HttpError("overloaded"), (529, 503)),
        (HttpError("server"), (500, 502, 503)),
        (HttpError("auth", status=401), 502),
        (HttpError("auth", status=403), 502),
        (HttpError("not_found"), 404),
        (HttpError("context_too_long"), 400),
    ],
)
def test_failures_before_the_first_byte_have_their_status(
    protocol: str, step: Any, status: Any, tmp_path: Path
) -> None:
    """`retry-after` is passed on; a key that upstream refuses is not the caller's token."""
    gateway = make_gateway(tmp_path, [step] * 9)
    answer = say(gateway, protocol, "openai:gpt-4.1", stream=True)
    assert answer.status in (status if isinstance(status, tuple) else (status,))
    if answer.status == 429:
        assert float(answer.headers["retry-after"]) == pytest.approx(7, abs=1)
    if answer.status == 502 and step.kind == "auth":
        assert "openai" in error_text(answer) and "OPENAI_API_KEY" in error_text(answer)
    assert "upstream-key" not in answer.body.decode()


@pytest.mark.parametrize("fault", [Truncate(), MidStreamError("overloaded"), Stall(2000)])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_failure_after_the_first_byte_is_told_in_the_stream(
    protocol: str, fault: Any, tmp_path: Path
) -> None:
    """In the shape that makes the client ask again: nothing that looks like a whole reply follows."""
    from tests.simulate.virtual import run as run_virtually

    gateway = make_gateway(tmp_path, [[Say("Hel"), fault]] * 3)
    path, body = path_of(protocol, KIMI, True), body_of(protocol, KIMI, HELLO, [], True)
    answer, _ = run_virtually(ask(gateway, "POST", path, body))
    text = answer.body.decode()
    ends = {
        "chat": "[DONE]",
        "responses": "response.completed",
        "anthropic": "message_stop",
        "gemini": "finishReason",
    }
    assert answer.status == 200 and "Hel" in text and ends[protocol] not in text
    report = ask_once(gateway, "GET", f"/requests/{answer.headers['x-turnout-request']}.json").json
    assert report["error"]


def test_codex_is_spared_a_429(tmp_path: Path) -> None:
    """It does not ask again after one, so the time is waited out; others are told."""
    from tests.simulate.virtual import run as run_virtually

    gateway = make_gateway(tmp_path, [HttpError("rate_limit", retry_after=30), "Hello."])
    body = body_of("responses", KIMI, HELLO, [], True)
    answer, _ = run_virtually(ask(gateway, "POST", "/v1/responses", body, user_agent="codex_exec/0.166.0"))
    assert answer.status == 200 and b"Hello." in answer.body


# State and repairs


def test_repairs_are_counted_and_named(tmp_path: Path) -> None:
    """A call without a result is repaired; a field that the target has not is named."""
    gateway = make_gateway(tmp_path, ["Hello."])
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [*HELLO, {"role": "assistant", "content": None, "tool_calls": [call]}, *HELLO]
    body = {**body_of("chat", "gpt-4.1", messages, []), "logit_bias": {"50256": -100}, "store": True}
    answer = ask_once(gateway, "POST", "/v1/chat/completions", body, x_turnout_target=KIMI)
    report = ask_once(gateway, "GET", f"/requests/{answer.headers['x-turnout-request']}.json").json
    assert int(answer.headers["x-turnout-repairs"]) == len(report["repaired"]) + len(report["dropped"]) >= 2
    assert any("missing_result" in each for each in report["repaired"])
    assert any("logit_bias" in each or "store" in each for each in report["dropped"])


def test_a_response_is_continued_by_its_id(tmp_path: Path) -> None:
    """Also after a restart; an id that is not known is a 400 in OpenAI's words."""
    transport = ScriptedTransport([[Call("look", {})], "Second."])
    tools = [{"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}]
    first = ask_once(
        make_gateway(tmp_path, transport=transport),
        "POST",
        "/v1/responses",
        {**body_of("responses", KIMI, HELLO, tools), "store": True},
    ).json
    call = next(item for item in first["output"] if item["type"] == "function_call")
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "seen 42"}
    follow = {"model": KIMI, "input": [output], "previous_response_id": first["id"]}
    again = make_gateway(tmp_path, transport=transport)
    second = ask_once(again, "POST", "/v1/responses", follow)
    sent = transport.exchanges[-1].body.decode()
    assert second.status == 200 and "seen 42" in sent and "hello" in sent and not transport.refusals
    unknown = ask_once(again, "POST", "/v1/responses", {**follow, "previous_response_id": "resp_no"})
    assert unknown.status == 400 and "Previous response with id 'resp_no' not found." in error_text(unknown)
    told = unknown.json["error"]
    assert (told["param"], told["code"]) == ("previous_response_id", "previous_response_not_found")


def test_a_foreign_signature_for_its_own_model_is_replayed(tmp_path: Path) -> None:
    """A session that began without the gateway goes on: Claude gets its own signature as it came."""
    transport = ScriptedTransport(["First."] * 2)
    gateway = make_gateway(tmp_path, transport=transport)
    signature = "E" + "q" * 199
    blocks = [{"type": "thinking", "thinking": "hm", "signature": signature}, {"type": "text", "text": "hi"}]
    messages = [*HELLO, {"role": "assistant", "content": blocks}, *HELLO]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 3000, "messages": messages}
    body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    for model, expected in (("claude-sonnet-4-5", True), ("kimi:kimi-k2.5", False)):
        before = len(transport.exchanges)
        answer = ask_once(gateway, "POST", "/v1/messages", {**body, "model": model})
        assert (signature in transport.exchanges[before].body.decode()) is expected
        assert answer.status == 200  # the simulator knows that it never signed this: the ladder dropped it


def test_a_step_after_a_refusal_stays_in_force_for_its_conversation(tmp_path: Path) -> None:
    """The next request of it is not refused again and says so; another conversation starts anew."""
    transport = ScriptedTransport(["First."] * 3)
    gateway = make_gateway(tmp_path, transport=transport)
    thought = {"type": "thinking", "thinking": "hm", "signature": "E" + "q" * 199}
    spoken = {"role": "assistant", "content": [thought, {"type": "text", "text": "hi"}]}
    messages = [*HELLO, spoken, *HELLO]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 3000}
    body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    refusals, repaired = [], []
    more = [*messages, {"role": "assistant", "content": "First."}, {"role": "user", "content": "and?"}]
    other = [{"role": "user", "content": "another"}, spoken, *HELLO]
    for each in (messages, more, other):
        answer = ask_once(gateway, "POST", "/v1/messages", {**body, "messages": each})
        refusals.append(len(transport.refusals))
        report = ask_once(gateway, "GET", f"/requests/{answer.headers['x-turnout-request']}.json").json
        repaired.append(any("drop reasoning, because" in line for line in report["repaired"]))
    assert refusals == [1, 1, 2]
    assert repaired == [True, True, True]


def test_a_forged_token_is_foreign_reasoning(tmp_path: Path) -> None:
    """It is left out, nothing is refused, and the words of the reply stay."""
    transport = ScriptedTransport(["First."])
    gateway = make_gateway(tmp_path, transport=transport)
    forged = {"type": "thinking", "thinking": "hm", "signature": "turnout1" + "A" * 200}
    messages = [
        *HELLO,
        {"role": "assistant", "content": [forged, {"type": "text", "text": "hi you"}]},
        *HELLO,
    ]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 3000, "messages": messages}
    answer = ask_once(gateway, "POST", "/v1/messages", body)
    sent = transport.exchanges[-1].body.decode()
    assert answer.status == 200 and "hi you" in sent and "turnout1" not in sent


@pytest.mark.parametrize("upstream", UPSTREAMS.values())
@pytest.mark.parametrize("protocol", PATHS)
def test_what_is_sent_upstream_only_grows(protocol: str, upstream: str, tmp_path: Path) -> None:
    """Request N is a prefix of request N+1 but for its end, also after a restart: caches keep hitting."""

    def model(asked: Any) -> list[Any]:
        return [Think("hm"), Say("found it")] if asked.results else [Think("hm"), Call("look", {"at": "x"})]

    transport = ScriptedTransport(model)
    client = RawClient(protocol, upstream)
    gateway = make_gateway(tmp_path, transport=transport)
    for turn in range(8):
        if turn == 4:
            gateway = make_gateway(tmp_path, transport=transport)
        client.ask(gateway, f"said {turn}")
    conversations = [_conversation_of(exchange.body) for exchange in transport.exchanges]
    assert len(conversations) == 8 and not transport.refusals
    for earlier, later in pairwise(conversations):
        assert later[: len(earlier) - 1] == earlier[:-1]


def _conversation_of(body: bytes) -> list[str]:
    """The messages of a request, without the marks that say how far a cache goes."""
    fields = json.loads(body)
    listed = next(fields[name] for name in ("messages", "input", "contents") if name in fields)
    return [json.dumps(_without_marks(message)) for message in listed]


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_marks(item) for name, item in value.items() if name != "cache_control"}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value


def test_claude_gets_cache_points_for_clients_without_markers(tmp_path: Path) -> None:
    """A Chat client knows no markers; its requests to Claude have them all the same."""
    transport = ScriptedTransport(["Hi."])
    gateway = make_gateway(tmp_path, transport=transport)
    messages = [{"role": "system", "content": "Be brief. " * 500}, *HELLO]
    ask_once(gateway, "POST", PATHS["chat"], body_of("chat", UPSTREAMS["anthropic"], messages, []))
    assert b"cache_control" in transport.exchanges[-1].body


# Odd bodies


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("value", [7, None, "text", [], {}, True])
def test_messages_that_are_not_a_list_are_a_400(protocol: str, value: Any, tmp_path: Path) -> None:
    """In the caller's shape, as its provider would say it."""
    gateway = make_gateway(tmp_path, ["Hello."] * 3)
    name = {"chat": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}[protocol]
    answer = ask_once(gateway, "POST", path_of(protocol, KIMI), {"model": KIMI, "max_tokens": 9, name: value})
    if (protocol in ("responses", "gemini") and value == "text") or (protocol, value) == ("gemini", {}):
        return  # a text is a whole input there
    assert answer.status == 400 and error_text(answer)


def test_a_lone_surrogate_is_repaired(tmp_path: Path) -> None:
    """Half an emoji in JSON is not refused."""
    gateway = make_gateway(tmp_path, ["Hello."])
    body = b'{"model": "kimi:kimi-k2.5", "messages": [{"role": "user", "content": "half \\ud83d end"}]}'
    assert ask_once(gateway, "POST", "/v1/chat/completions", body).status == 200


def test_counts_of_tokens(tmp_path: Path) -> None:
    """Anthropic's and Gemini's routes, without a request upstream."""
    transport = ScriptedTransport([])
    gateway = make_gateway(tmp_path, transport=transport)
    body = body_of("anthropic", KIMI, HELLO, [])
    assert ask_once(gateway, "POST", "/v1/messages/count_tokens", body).json["input_tokens"] > 0
    contents = body_of("gemini", KIMI, HELLO, [])
    path = f"/v1beta/models/{KIMI}:countTokens"
    assert ask_once(gateway, "POST", path, contents).json["totalTokens"] > 0
    wrapped = {"generateContentRequest": {"model": "models/x", **contents}}
    assert ask_once(gateway, "POST", path, wrapped).json["totalTokens"] > 0
    assert not transport.exchanges


# Keys, budgets, records


def test_a_key_has_its_models_its_rate_and_its_budget(tmp_path: Path) -> None:
    """What it may not ask for is 404, what is too much is 429; its usage is its own."""
    settings = (
        '[gateway.keys.ci]\ntoken_variable = "CI_TOKEN"\nmodels = ["kimi:*"]\nrequests_per_minute = 3\n'
        "max_tokens = 1000000\n"
    )
    environment = environment_at(tmp_path, CI_TOKEN="a token of the ci machine")
    gateway = make_gateway(
        tmp_path,
        lambda asked: "Hello.",
        settings=settings,
        environment=environment,
        wall_clock=lambda: 6000.0,
    )
    ci = {"authorization": "Bearer a token of the ci machine"}
    assert say(gateway, "chat", "openai:gpt-4.1", **ci).status == 404
    assert say(gateway, "chat", KIMI, x_turnout_target="openai:gpt-4.1", **ci).status == 404
    assert [say(gateway, **ci).status for _ in range(3)] == [200, 200, 429]
    used = ask_once(gateway, "GET", "/usage", **ci).json
    assert used["key"] == "ci" and used["tokens"] > 0
    assert say(gateway).status == 200  # the owner has no limit


def test_money_that_is_used_up_ends_a_key(tmp_path: Path) -> None:
    """Also after a restart: what was spent is in the file."""
    settings = '[gateway.keys.ci]\ntoken_variable = "CI_TOKEN"\nmax_cost = 0.0000001\n'
    environment = environment_at(tmp_path, CI_TOKEN="a token of the ci machine")
    ci = {"authorization": "Bearer a token of the ci machine"}
    made = [
        make_gateway(tmp_path, lambda asked: "Hello.", settings=settings, environment=environment)
        for _ in range(2)
    ]
    assert [say(made[0], **ci).status for _ in range(2)] == [200, 429]
    made[0].memory.flush()
    again = say(made[1], **ci)
    assert again.status == 429 and "ci" in error_text(again)


def test_bodies_are_kept_only_when_asked_for_and_without_keys(tmp_path: Path) -> None:
    """--keep-bodies shows what came and what went, with every known secret hidden."""
    for keeps in (False, True):
        gateway = make_gateway(tmp_path / str(keeps), ["Hello."], keep_bodies=keeps)
        messages = [{"role": "user", "content": "my key is upstream-key-0"}]
        answer = ask_once(gateway, "POST", PATHS["chat"], body_of("chat", KIMI, messages, []))
        report = ask_once(gateway, "GET", f"/requests/{answer.headers['x-turnout-request']}.json").json
        assert ("bodies" in report) is keeps
        assert "upstream-key-0" not in json.dumps(report)


def test_one_line_is_logged_for_a_request_and_no_secret_is_in_it(tmp_path: Path) -> None:
    """Time, client, asked, answered, status, repairs, tokens, cached share, cost, first byte, total."""
    lines: list[str] = []
    gateway = make_gateway(tmp_path, ["Hello."], log=lines.append)
    path = path_of("gemini", KIMI) + f"?key={TOKEN}"
    ask_once(gateway, "POST", path, body_of("gemini", KIMI, HELLO, []), authorization="")
    (line,) = lines
    for name in ("client=owner", f"asked={KIMI}", f"answered={KIMI}", "status=200", "repairs=", "tokens="):
        assert name in line
    assert all(name in line for name in ("cached=", "cost=", "first=", "total=")) and TOKEN not in line
    assert "upstream-key" not in line


def test_metrics_have_our_names_and_the_fields_labels(tmp_path: Path) -> None:
    """Prometheus' text format; every name begins with turnout_."""
    gateway = make_gateway(tmp_path, ["Hello."])
    say(gateway)
    text = ask_once(gateway, "GET", "/metrics").body.decode()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert lines and all(line.startswith("turnout_") for line in lines)
    assert 'gen_ai_provider_name="kimi"' in text and 'gen_ai_request_model="kimi-k2.5"' in text
    assert "turnout_gateway_request_seconds_bucket" in text


def test_a_client_that_goes_ends_the_request_upstream(tmp_path: Path) -> None:
    """The generator of the answer is closed, and the exchange with it."""
    gateway = make_gateway(tmp_path, [[Say("Hel"), Stall(1000)]])

    async def leave() -> str:
        from turnout.surfaces.gateway.values import Request

        request = Request.of("POST", PATHS["chat"], {"host": "127.0.0.1", "content-type": "application/json"})
        request.headers["authorization"] = f"Bearer {TOKEN}"
        request.body = json.dumps(body_of("chat", KIMI, HELLO, [], True)).encode()
        assert gateway.admit(request) is None
        answer = await gateway.answer(request)
        assert not isinstance(answer.body, bytes)
        async for _ in answer.body:
            break
        await asyncio.wait_for(answer.body.aclose(), 1)  # type: ignore[attr-defined]
        return answer.headers["x-turnout-request"]

    id = asyncio.run(leave())
    assert ask_once(gateway, "GET", f"/requests/{id}.json").json["status"] == 499
    assert gateway.metrics.open_replies == 0


def test_the_cache_of_histories_stays_within_its_limit(tmp_path: Path) -> None:
    """Many conversations: the least recently used histories go, and requests are answered all the same."""
    gateway = make_gateway(tmp_path, lambda asked: "Hello.", settings="[gateway]\ncache_mib = 1\n")
    for number in range(40):
        messages = [{"role": "user", "content": f"{number} " + "word " * 4000}]
        answer = ask_once(gateway, "POST", PATHS["chat"], body_of("chat", KIMI, messages, []))
        assert answer.status == 200
    assert 0 < gateway.histories.size <= 1024 * 1024


def test_the_next_request_of_a_conversation_reads_only_what_is_new(tmp_path: Path) -> None:
    """The history of the last request is used again, whichever way the client names its conversation."""
    gateway = make_gateway(tmp_path, lambda asked: "Hello.")
    for headers in ({}, {"x_session_id": "one"}):
        messages: list[Any] = [{"role": "user", "content": f"start {headers}"}]
        reused = []
        for _ in range(3):
            answer = ask_once(gateway, "POST", PATHS["chat"], body_of("chat", KIMI, messages, []), **headers)
            report = ask_once(gateway, "GET", f"/requests/{answer.headers['x-turnout-request']}.json").json
            reused.append(report["reused"])
            messages += [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "and?"}]
        assert reused == [False, True, True]


@pytest.mark.parametrize(
    ("target", "told"), [(UPSTREAMS["anthropic"], "set anew"), (UPSTREAMS["gemini"], "caches by itself")]
)
def test_what_became_of_cache_markers_is_told(target: str, told: str, tmp_path: Path) -> None:
    """Claude gets markers of ours, with the client's lifetime; others cache by themselves."""
    transport = ScriptedTransport(["First."])
    gateway = make_gateway(tmp_path, transport=transport)
    mark = {"type": "ephemeral", "ttl": "1h"}
    parts = [{"type": "text", "text": "a document", "cache_control": mark}, {"type": "text", "text": "and?"}]
    body = {"model": target, "max_tokens": 100, "messages": [{"role": "user", "content": parts}]}
    answer = ask_once(gateway, "POST", "/v1/messages", body)
    report = ask_once(gateway, "GET", f"/requests/{answer.headers['x-turnout-request']}.json").json
    lines = [line for line in (*report["steps"], *report["dropped"]) if "cache_control: 1 markers" in line]
    assert answer.status == 200 and len(lines) == 1 and told in lines[0]
    assert (b'"ttl":"1h"' in transport.exchanges[-1].body) == (told == "set anew")
    assert int(answer.headers["x-turnout-repairs"]) == len(report["repaired"]) + len(report["dropped"])
