"""Traces, received by a real OTLP receiver: one from the request to the commit of its event."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tapeline.settings import Settings
from tapeline.tracing import COMMITTED, MOST, QUEUED, Trace
from tests.conftest import let_in, running
from tests.pushing import pushing

SENDER = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{SENDER}-b7ad6b7169203331-01"
NOTHING_IMPORTED = """
import sys
from pathlib import Path
from tapeline import compose
from tapeline.settings import Settings
with compose.open_services(Settings(data=Path(sys.argv[1]))) as services:
    compose.application(services)
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


@contextmanager
def receiver() -> Iterator[tuple[str, list[Span]]]:
    """A collector: its address, and the spans that it has received."""
    spans: list[Span] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            said = ExportTraceServiceRequest()
            said.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
            for resource in said.resource_spans:
                for scope in resource.scope_spans:
                    spans.extend(scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on the screen."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", spans
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def spans(
    tmp_path_factory: pytest.TempPathFactory,
    empty: Callable[[str, Path], Settings],
    password_hash: str,
) -> list[Span]:
    """Of a server that took an event, one with an Idempotency-Key, and other requests."""
    made = empty("sqlite", tmp_path_factory.mktemp("traced") / "data")
    with receiver() as (address, found):
        with running(replace(made, telemetry=address)) as service:
            owner = let_in(service, "ada@example.com", password_hash)
            with owner.client, pushing(service, owner) as model:
                log = {"line": "a secret line", "type": "stdout"}
                model.push("/v1/live/event", {"type": "first"})  # the key is known after it
                model.push("/v1/live/log", log, headers={"traceparent": PARENT})
                model.push(
                    "/v1/live/used-symbol", {"symbol": "X"}, headers={"Idempotency-Key": "1"}
                )
                assert owner.post("/project/create", json={"name": "Alpha"}).status_code == 200
                assert owner.get("/api/me").status_code == 200
        return found


def named(spans: list[Span], name: str) -> Span:
    return next(one for one in spans if one.name == name)


@pytest.mark.parametrize(
    "request_name",
    [
        "POST /v1/live/event",
        "POST /v1/live/log",
        "POST /v1/live/used-symbol",
        "POST /project/create",
    ],
)
def test_a_write_is_one_trace_from_the_request_to_the_commit(
    spans: list[Span], request_name: str
) -> None:
    request = named(spans, request_name)
    inside = [one for one in spans if one.parent_span_id == request.span_id]
    assert [one.name for one in inside][-2:] == [QUEUED, COMMITTED]
    assert {one.trace_id for one in inside} == {request.trace_id}
    queued, committed = inside[-2:]
    assert request.start_time_unix_nano <= queued.start_time_unix_nano
    assert queued.end_time_unix_nano == committed.start_time_unix_nano
    assert committed.end_time_unix_nano <= request.end_time_unix_nano


def test_the_trace_of_a_sender_goes_on(spans: list[Span]) -> None:
    assert named(spans, "POST /v1/live/log").trace_id.hex() == SENDER
    assert named(spans, "POST /v1/live/event").trace_id.hex() != SENDER


def test_a_read_has_no_commit_and_no_trace_tells_what_was_sent(spans: list[Span]) -> None:
    read = named(spans, "GET /api/me")
    assert not [one for one in spans if one.parent_span_id == read.span_id]
    assert "secret" not in str(spans)


def test_what_a_request_leaves_behind_does_not_make_its_trace_grow() -> None:
    trace = Trace()
    for _ in range(MOST):
        trace.stored(1.0, 2.0, 3.0)
    assert len(trace.spans) == MOST
    ended = Trace(is_over=True)
    ended.stored(1.0, 2.0, 3.0)
    assert ended.spans == []


def test_without_the_setting_nothing_of_it_is_imported(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", NOTHING_IMPORTED, str(tmp_path / "data")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.strip().splitlines()[-1:] == ["[]"], ended.stderr
