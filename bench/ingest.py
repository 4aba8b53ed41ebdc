"""How fast events become durable, beside a handler that does nothing and beside other products.

Everybody runs in one run, taking turns, so that a noisy machine is noisy for all of them.
`python -m bench.ingest [--mlflow PYTHON] [--rounds N] [--seconds N]`
"""

import argparse
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.parts import peers, service, wrk
from bench.parts.peers import Peer
from bench.parts.wrk import Sent

LOG = '{"line":"hello from a model that trades","type":"stdout"}'
ORDER = (
    '{"id":"o-@","symbol":"BTC-USD","exchange":"coinbase","side":"buy","size":1.5,"price":100.25}'
)
POINT = 'log,model=m line="hello from a model that trades",type="stdout"'
METRIC = '{"run_id":"%s","key":"loss","value":1.5,"timestamp":1735689600000,"step":1}'
IN_A_BATCH = 1_000
DISTINCT_BATCHES = 50
FEW, MANY, PARALLEL_BATCHES = 64, 256, 8
WANTED_P99 = 15  # milliseconds


@dataclass(frozen=True)
class Contender:
    """One row of the table: what is sent where."""

    name: str
    what: str
    connections: int
    measure: Callable[[int], Sent] | None
    """Seconds in; None when the product is not installed."""
    events: int = 1
    """In one request."""


def main() -> None:
    options = _options()
    wrk.require()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ExitStack() as open_ones:
            influx = open_ones.enter_context(peers.influx(folder))
            contenders = [*_ours(open_ones, folder), *_influx(folder, influx)]
            found = _measured(contenders, options.rounds, options.seconds)
        # By itself: its idle workers would take more of the machine than the others leave.
        with peers.mlflow(folder, options.mlflow) as mlflow:
            found |= _measured([_mlflow(folder, mlflow)], 1, options.seconds)
    _print(found)


def _measured(
    contenders: list[Contender], rounds: int, seconds: int
) -> dict[Contender, list[Sent]]:
    found: dict[Contender, list[Sent]] = {one: [] for one in contenders}
    for turn in range(rounds + 1):
        for one in contenders:
            if one.measure is not None:
                sent = one.measure(seconds)
                if turn > 0:  # the first turn warms everybody up
                    found[one].append(sent)
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mlflow", type=Path, help="a Python that has MLflow installed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    return parser.parse_args()


def _ours(open_ones: ExitStack, folder: Path) -> list[Contender]:
    noop = open_ones.enter_context(peers.noop(folder))
    ours = open_ones.enter_context(service.running(folder / "data"))
    headers = {"content-type": "application/json", **ours.headers}
    log, order = (wrk.script(folder, headers, [body]) for body in (LOG, ORDER))
    items = ",".join([f'{{"path":"/v1/live/log","body":{LOG}}}'] * IN_A_BATCH)
    batch = wrk.script(folder, headers, [f"[{items}]"])

    def at(path: str, script: Path, connections: int) -> Callable[[int], Sent]:
        address = ours.address + path
        return lambda seconds: wrk.send(address, script, connections, seconds, ours.pid)

    return [
        *(_contender("no-op", "one request", some, noop, log) for some in (FEW, MANY)),
        *(
            Contender("Tapeline", "one log", some, at("/v1/live/log", log, some))
            for some in (FEW, MANY)
        ),
        Contender("Tapeline", "one order", FEW, at("/v1/live/spot-limit", order, FEW)),
        Contender(
            "Tapeline", "batch of 1,000", PARALLEL_BATCHES,
            at("/v1/batch", batch, PARALLEL_BATCHES), IN_A_BATCH,
        ),
    ]  # fmt: skip


def _influx(folder: Path, influx: Peer | None) -> list[Contender]:
    one = wrk.script(folder, {}, [POINT])
    # Each point at a time of its own: points of one series at one time are one point to InfluxDB.
    batches = wrk.script(
        folder,
        {},
        [
            "\n".join(f"{POINT} {batch * IN_A_BATCH + n + 1}" for n in range(IN_A_BATCH))
            for batch in range(DISTINCT_BATCHES)
        ],
    )
    return [
        *(_contender("InfluxDB", "one log", some, influx, one) for some in (FEW, MANY)),
        _contender("InfluxDB", "batch of 1,000", PARALLEL_BATCHES, influx, batches, IN_A_BATCH),
    ]


def _mlflow(folder: Path, mlflow: Peer | None) -> Contender:
    body = METRIC % mlflow.run if mlflow else ""
    script = wrk.script(folder, {"content-type": "application/json"}, [body])
    return _contender("MLflow", "one log-metric", FEW, mlflow, script)


def _contender(
    name: str, what: str, connections: int, peer: Peer | None, script: Path, events: int = 1
) -> Contender:
    if peer is None:
        return Contender(name, what, connections, None, events)
    address, pid = peer.address, peer.pid
    return Contender(
        name,
        what,
        connections,
        lambda seconds: wrk.send(address, script, connections, seconds, pid),
        events,
    )


def _print(found: dict[Contender, list[Sent]]) -> None:
    """The best turn of each: what disturbs from outside only ever makes a turn worse."""
    best = {
        one: max(turns, key=lambda sent: sent.requests) for one, turns in found.items() if turns
    }
    rates = {
        (one.name, one.what, one.connections): sent.requests * one.events
        for one, sent in best.items()
    }
    print("| who | what | connections | events/s | p99 | processor per event | beside |")
    print("|---|---|---|---|---|---|---|")
    for one in found:
        if one not in best:
            print(f"| {one.name} | {one.what} | {one.connections} | not installed | | | |")
            continue
        sent = best[one]
        print(
            f"| {one.name} | {one.what} | {one.connections} | {sent.requests * one.events:,.0f}"
            f" | {sent.p99:.1f} ms | {sent.cpu / one.events:.1f} µs | {_compared(one, rates)} |"
        )
    _print_figures(best, rates)


def _print_figures(best: dict[Contender, Sent], rates: dict[tuple[str, str, int], float]) -> None:
    """What is wanted of us, and what came of it."""

    def ratio(ours: tuple[str, int], theirs: tuple[str, str, int]) -> float:
        return rates["Tapeline", *ours] / rates.get(theirs, float("inf"))

    log, batch = "one log", "batch of 1,000"
    p99 = next(
        sent.p99
        for one, sent in best.items()
        if (one.name, one.what, one.connections) == ("Tapeline", log, FEW)
    )
    figures = [
        *(
            (f"one log beside the no-op, {some} connections", 0.6,
             ratio((log, some), ("no-op", "one request", some)))
            for some in (FEW, MANY)
        ),
        *(
            (f"one log beside InfluxDB, {some} connections", 0.8,
             ratio((log, some), ("InfluxDB", log, some)))
            for some in (FEW, MANY)
        ),
        ("batches of 1,000 beside InfluxDB", 0.75,
         ratio((batch, PARALLEL_BATCHES), ("InfluxDB", batch, PARALLEL_BATCHES))),
        ("orders beside logs", 0.7, ratio(("one order", FEW), ("Tapeline", log, FEW))),
    ]  # fmt: skip
    print("\n| figure | wanted | measured | reached |")
    print("|---|---|---|---|")
    for name, wanted, found in figures:
        print(f"| {name} | {wanted} | {found:.2f} | {'yes' if found >= wanted else 'not yet'} |")
    reached = "yes" if p99 < WANTED_P99 else "not yet"
    print(f"| p99 of one log, {FEW} connections | {WANTED_P99} ms | {p99:.1f} ms | {reached} |")


def _compared(one: Contender, rates: dict[tuple[str, str, int], float]) -> str:
    """Only our own rows are compared."""
    if one.name != "Tapeline":
        return ""
    others = {
        "no-op": ("no-op", "one request", one.connections),
        "InfluxDB": ("InfluxDB", one.what, one.connections),
        "logs": ("Tapeline", "one log", one.connections),
        "MLflow": ("MLflow", "one log-metric", one.connections),
    }
    own = rates[one.name, one.what, one.connections]
    shown = {
        name: own / rates[row]
        for name, row in others.items()
        if row in rates and row != (one.name, one.what, one.connections)
    }
    return ", ".join(f"{ratio:.2f} of {name}" for name, ratio in shown.items())


if __name__ == "__main__":
    main()
