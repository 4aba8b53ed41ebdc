"""Sends traces to an OpenTelemetry collector; imported only if the setting `telemetry` names one.

A request is traced with plain numbers; the spans are made when it has been answered, so that no
event waits for them.
"""

import time

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tapeline import __version__
from tapeline.tracing import Trace

PATH = "/v1/traces"
SERVER_ERROR = 500


class Traces:
    def __init__(self, collector: str) -> None:
        resource = Resource.create({"service.name": "tapeline", "service.version": __version__})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=f"{collector}{PATH}")
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("tapeline", __version__)

    def finish(self, trace: Trace, method: str, route: str, status: int, parent: str) -> None:
        trace.is_over = True
        # Spans carry the time of day; its jumps must not change how long they are.
        zero = time.time_ns() - time.monotonic_ns()
        outer = TraceContextTextMapPropagator().extract({"traceparent": parent})
        request = self._tracer.start_span(
            f"{method} {route}",
            outer,
            SpanKind.SERVER,
            {"http.request.method": method, "http.route": route},
            start_time=zero + _ns(trace.begun),
        )
        request.set_attribute("http.response.status_code", status)
        if status >= SERVER_ERROR:
            request.set_status(Status(StatusCode.ERROR))
        inner = set_span_in_context(request, outer)
        for one in trace.spans:
            span = self._tracer.start_span(
                one.name, inner, attributes=dict(one.facts), start_time=zero + _ns(one.begun)
            )
            span.end(zero + _ns(one.ended))
        request.end()

    def close(self) -> None:
        self._provider.shutdown()


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
