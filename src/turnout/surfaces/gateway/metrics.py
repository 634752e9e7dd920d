"""Numbers for Prometheus. Names begin with `turnout_`; labels are OpenTelemetry's GenAI names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...model import Origin
from .record import RequestRecord

BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
MAX_SERIES = 2_000
"""Label sets of one name; beyond them a model is counted as `other`."""
Labels = tuple[tuple[str, str], ...]


class Histogram:
    """How often a value was at most each bucket."""

    __slots__ = ("count", "counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * len(BUCKETS)
        self.total, self.count = 0.0, 0

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        for at, bucket in enumerate(BUCKETS):
            if value <= bucket:
                self.counts[at] += 1


class GatewayMetrics:
    """Everything that is counted."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[Labels, float]] = {}
        self._times: dict[str, dict[Labels, Histogram]] = {}
        self.open_replies = 0

    def add(self, record: RequestRecord) -> None:
        """Count one request."""
        origin = Origin.parse(record.target) if record.target else Origin("none")
        who: Labels = (
            ("gen_ai_operation_name", "chat"),
            ("gen_ai_provider_name", origin.provider),
            ("gen_ai_request_model", origin.model),
        )
        status = ("http_response_status_code", str(record.status))
        self.count("turnout_gateway_requests_total", (*who, ("turnout_protocol", record.protocol), status))
        self.count("turnout_gateway_repairs_total", who, record.repairs)
        for kind, tokens in (("input", record.input), ("output", record.output)):
            self.count("turnout_gateway_tokens_total", (*who, ("gen_ai_token_type", kind)), tokens or 0)
        self.count("turnout_gateway_cost_dollars_total", who, record.cost or 0)
        self.observe("turnout_gateway_request_seconds", who, record.seconds)
        if record.first_byte is not None:
            self.observe("turnout_gateway_first_byte_seconds", who, record.first_byte)

    def count(self, name: str, labels: Labels, by: float = 1) -> None:
        series = self._counts.setdefault(name, {})
        labels = _limited_labels(labels, series)
        series[labels] = series.get(labels, 0) + by

    def observe(self, name: str, labels: Labels, value: float) -> None:
        series = self._times.setdefault(name, {})
        series.setdefault(_limited_labels(labels, series), Histogram()).add(value)

    def text(self, gauges: Mapping[str, float]) -> str:
        """All numbers in Prometheus' text format."""
        lines: list[str] = []
        for name, value in {"turnout_gateway_open_replies": self.open_replies, **gauges}.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value:g}"]
        for name, series in sorted(self._counts.items()):
            lines.append(f"# TYPE {name} counter")
            lines += [f"{name}{_braces(labels)} {value:g}" for labels, value in series.items()]
        for name, times in sorted(self._times.items()):
            lines.append(f"# TYPE {name} histogram")
            for labels, histogram in times.items():
                lines += _histogram_lines(name, labels, histogram)
        return "\n".join(lines) + "\n"


def _limited_labels(labels: Labels, series: Mapping[Labels, object]) -> Labels:
    if labels in series or len(series) < MAX_SERIES:
        return labels
    return tuple((name, "other" if name == "gen_ai_request_model" else value) for name, value in labels)


def _histogram_lines(name: str, labels: Labels, histogram: Histogram) -> Iterable[str]:
    for bucket, count in zip(BUCKETS, histogram.counts, strict=True):
        yield f"{name}_bucket{_braces((*labels, ('le', f'{bucket:g}')))} {count}"
    yield f"{name}_bucket{_braces((*labels, ('le', '+Inf')))} {histogram.count}"
    yield f"{name}_sum{_braces(labels)} {histogram.total:g}"
    yield f"{name}_count{_braces(labels)} {histogram.count}"


def _braces(labels: Labels) -> str:
    pairs = (f'{name}="{_label_text(value)}"' for name, value in labels)
    return "{" + ",".join(pairs) + "}"


def _label_text(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
