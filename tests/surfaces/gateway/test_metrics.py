"""Numbers for Prometheus."""

from __future__ import annotations

from turnout.surfaces.gateway import metrics as numbers
from turnout.surfaces.gateway.metrics import GatewayMetrics
from turnout.surfaces.gateway.record import RequestRecord, agent_of, log_line


def record(model: str = "m", **more: object) -> RequestRecord:
    return RequestRecord("r", 0.0, protocol="chat", target=f"openai:{model}", status=200, **more)  # type: ignore[arg-type]


def test_requests_and_tokens_are_counted_by_model() -> None:
    """With OpenTelemetry's names for provider, model and kind of token."""
    metrics = GatewayMetrics()
    for _ in range(3):
        metrics.add(record(input=10, output=2, seconds=0.2, first_byte=0.1))
    text = metrics.text({"turnout_x": 1.5})
    who = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m"'
    assert f'turnout_gateway_tokens_total{{{who},gen_ai_token_type="input"}} 30' in text
    assert f'turnout_gateway_request_seconds_bucket{{{who},le="0.25"}} 3' in text
    assert "turnout_x 1.5" in text


def test_names_of_models_cannot_fill_the_memory(monkeypatch: object) -> None:
    """Beyond the limit they are counted together."""
    metrics, numbers.MAX_SERIES = GatewayMetrics(), 20
    try:
        for number in range(100):
            metrics.add(record(f"m{number}"))
    finally:
        numbers.MAX_SERIES = 2_000
    assert 'gen_ai_request_model="other"' in metrics.text({}) and "m99" not in metrics.text({})


def test_a_label_cannot_break_out_of_its_quotes() -> None:
    """A model's name is the caller's."""
    metrics = GatewayMetrics()
    metrics.add(record('x"} 1\nfake'))
    assert "\nfake" not in metrics.text({})


def test_a_log_line_is_one_line() -> None:
    """Whatever a client calls itself or asks for."""
    line = log_line(record("a\nb\x1b[0m", client="c", agent=agent_of("evil\nagent/1"), asked="x y\n"))
    assert "\n" not in line and "\x1b" not in line
