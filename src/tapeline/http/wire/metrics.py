"""Metrics for Prometheus: requests, the writer, background work, health, and the models.

How many orders come in is nobody's business but the operator's: without a token there is no page.
"""

import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from tapeline.background import Background
from tapeline.backups.keeper import Keeper
from tapeline.buckets import Buckets
from tapeline.errors import NoSuchPage, WrongMetricsToken
from tapeline.health.checklist import CHECKS
from tapeline.health.examination import Examination
from tapeline.health.fleet import Fleet, ModelNumbers
from tapeline.health.verdict import RANK
from tapeline.http.wire.connections import Connections
from tapeline.store.writer import Writer
from tapeline.tape.append.inbox import Inbox

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    def __init__(
        self,
        writer: Writer,
        inbox: Inbox,
        background: Background,
        connections: Connections,
        backups: Keeper,
    ) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._events: dict[tuple[str, int], list[float]] = {}
        self._registry.register(_OfWriter(writer, inbox))
        self._registry.register(_OfEvents(self._events))
        self._registry.register(_OfBackground(background))
        self._registry.register(_OfConnections(connections))
        self._registry.register(_OfBackups(backups))
        self._requests = Counter(
            "tapeline_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "tapeline_request_seconds",
            "Time from a request's arrival to the end of its answer.",
            ["route"],
            buckets=BUCKETS,
            registry=self._registry,
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def took_event(self, path: str, status: int, seconds: float) -> None:
        """The hot path: plain sums, converted to metrics when they are read."""
        taken = self._events.setdefault((path, status), [0, 0.0])
        taken[0] += 1
        taken[1] += seconds

    def text(
        self, found: Examination | None = None, fleet: Fleet | None = None, *, names: bool = False
    ) -> bytes:
        """What was counted, and what the checks and the database say now, as far as they do."""
        now = CollectorRegistry(auto_describe=False)
        if found is not None:
            now.register(_OfHealth(found))
        if fleet is not None:
            now.register(_OfFleet(fleet, names))
        return generate_latest(self._registry) + generate_latest(now)


def require_token(token: str, authorization: str) -> None:
    """Require the token from the settings; without that setting, nobody may read."""
    if not token:
        raise NoSuchPage
    scheme, _, sent = authorization.partition(" ")
    is_right = hmac.compare_digest(sent.strip().encode("latin-1"), token.encode())
    if scheme.lower() != "bearer" or not is_right:
        raise WrongMetricsToken


class _OfWriter(Collector):
    """Reads the numbers on demand, so that the writer itself contains no metrics."""

    def __init__(self, writer: Writer, inbox: Inbox) -> None:
        self._writer = writer
        self._inbox = inbox

    def collect(self) -> Iterator[Metric]:
        counts = self._writer.counts
        yield GaugeMetricFamily(
            "tapeline_writes_waiting", "Writes queued for the database.", self._writer.backlog()
        )
        for name, sentence, value in (
            ("tapeline_writes", "Writes committed.", counts.jobs),
            ("tapeline_write_groups", "Transactions committed.", counts.groups),
            (
                "tapeline_writes_failed",
                "Writes that failed because of the database.",
                counts.failures,
            ),
            ("tapeline_commit_seconds", "Time spent in commits.", counts.commit_seconds),
        ):
            yield CounterMetricFamily(name, sentence, value)
        yield _histogram(
            "tapeline_write_wait_seconds", "Time for which a write was queued.", counts.waits
        )
        yield _histogram("tapeline_write_group_size", "Writes per transaction.", counts.sizes)
        yield _histogram(
            "tapeline_turn_events", "Events that were stored together.", self._inbox.sizes
        )


def _histogram(name: str, sentence: str, found: Buckets) -> Metric:
    rising = found.rising()
    bounds = [*map(str, found.bounds), "+Inf"]
    buckets = list(zip(bounds, map(float, rising), strict=True))
    return HistogramMetricFamily(name, sentence, buckets=buckets, sum_value=found.total)


class _OfBackground(Collector):
    def __init__(self, background: Background) -> None:
        self._background = background

    def collect(self) -> Iterator[Metric]:
        turns, failures = (
            CounterMetricFamily(f"tapeline_work_{name}", sentence, labels=["work"])
            for name, sentence in (
                ("turns", "Turns that background work has finished."),
                ("failures", "Failures of background work."),
            )
        )
        silent, overdue = (
            GaugeMetricFamily(f"tapeline_work_{name}", sentence, labels=["work"])
            for name, sentence in (
                ("silent_seconds", "Time since its last progress."),
                ("overdue", "1 when it has not finished a turn in time."),
            )
        )
        for one in self._background.states():
            turns.add_metric([one.name], one.turns)
            failures.add_metric([one.name], one.failures)
            silent.add_metric([one.name], one.silent)
            overdue.add_metric([one.name], one.overdue)
        leads = GaugeMetricFamily(
            "tapeline_leads", "1 on the server that does what is done once in the installation."
        )
        leads.add_metric([], self._background.leads())
        yield from (turns, failures, silent, overdue, leads)


class _OfBackups(Collector):
    """Scheduled backups; nothing if none are scheduled."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def collect(self) -> Iterator[Metric]:
        standing, now = self._keeper.standing, self._keeper.now()
        if standing.every is None:
            return
        yield CounterMetricFamily(
            "tapeline_backup_failures", "Scheduled backups that failed.", self._keeper.failures
        )
        yield GaugeMetricFamily(
            "tapeline_backup_too_old",
            "1 if the last good backup is older than twice the schedule, or there is none.",
            standing.is_too_old(now),
        )
        if standing.last is not None:
            for name, sentence, value in (
                ("age_seconds", "Age of the last good backup.", standing.age(now)),
                ("seconds", "How long the last good backup took.", standing.last.seconds),
                ("bytes", "Size of the last good backup.", standing.last.bytes),
            ):
                yield GaugeMetricFamily(f"tapeline_backup_{name}", sentence, value)


class _OfConnections(Collector):
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("tapeline_connections", "Open connections.", len(self._connections))
        yield GaugeMetricFamily(
            "tapeline_held_bytes",
            "Bytes of requests in progress in memory.",
            self._connections.held,
        )
        refused = CounterMetricFamily(
            "tapeline_connections_refused", "Connections refused or ended.", labels=["code"]
        )
        for code, count in list(self._connections.refused.items()):
            refused.add_metric([code], count)
        yield refused


class _OfHealth(Collector):
    """The rows that pages and `tapeline status` show, and the numbers behind them."""

    def __init__(self, found: Examination) -> None:
        self._found = found

    def collect(self) -> Iterator[Metric]:
        states = GaugeMetricFamily(
            "tapeline_check_state", "0: green, 1: yellow, 2: red.", labels=["check"]
        )
        for row in self._found.rows:
            states.add_metric([row.name], RANK[row.state])
        yield states
        for check in CHECKS:
            for name, sentence in check.figures.items():
                if name in self._found.figures:
                    value = self._found.figures[name]
                    yield GaugeMetricFamily(f"tapeline_{name}", sentence, value)


class _OfFleet(Collector):
    def __init__(self, fleet: Fleet, names: bool) -> None:
        self._fleet = fleet
        self._names = names

    def collect(self) -> Iterator[Metric]:
        yield self._by(
            "tapeline_models",
            "Models by the state of their newest live run.",
            ["state"],
            [([state], count) for state, count in self._fleet.states.items()],
        )
        yield self._by(
            "tapeline_runs",
            "Runs that have not ended.",
            ["kind", "state"],
            self._fleet.open_runs.items(),
        )
        for name, sentence, value in _OF_MODEL:
            found = [([one.id], value(one)) for one in self._fleet.models]
            known = [(labels, number) for labels, number in found if number is not None]
            yield self._by(f"tapeline_model_{name}", sentence, ["model"], known)
        if self._names:
            yield self._by(
                "tapeline_model_info",
                "The name and the project of a model.",
                ["model", "project", "name"],
                [([one.id, one.project_id, one.name], 1) for one in self._fleet.models],
            )

    @staticmethod
    def _by(
        name: str, sentence: str, labels: list[str], values: Iterable[tuple[Sequence[str], float]]
    ) -> Metric:
        made = GaugeMetricFamily(name, sentence, labels=labels)
        for of, value in values:
            made.add_metric(of, value)
        return made


_OF_MODEL: tuple[tuple[str, str, Callable[[ModelNumbers], float | None]], ...] = (
    ("running", "1 while its live run is running.", lambda one: one.running),
    ("restarts", "Restarts of its current run.", lambda one: one.restarts),
    (
        "last_event_age_seconds",
        "Time since an event of it arrived, to ten seconds.",
        lambda one: one.event_age,
    ),
    (
        "heartbeat_age_seconds",
        "Time since its processes were last seen.",
        lambda one: one.heartbeat_age,
    ),
)


class _OfEvents(Collector):
    def __init__(self, events: dict[tuple[str, int], list[float]]) -> None:
        self._events = events

    def collect(self) -> Iterator[Metric]:
        counted = CounterMetricFamily(
            "tapeline_event_requests", "Requests of the events API.", labels=["path", "status"]
        )
        spent = CounterMetricFamily(
            "tapeline_event_seconds", "Time until they were answered.", labels=["path", "status"]
        )
        for (path, status), (count, seconds) in list(self._events.items()):
            counted.add_metric([path, str(status)], count)
            spent.add_metric([path, str(status)], seconds)
        yield counted
        yield spent
