"""How much a model may say: whether every line reaches its tape, and whether speaking slows it.

Beside it, in turn: the same script by hand, writing to a file. Then as fast as it can.
`python -m bench.output [--rate N] [--seconds N] [--rounds N] [--most N]`
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bench.parts import fleet
from bench.parts.fleet import Server
from tests.archives import zipped

PLAN = "medium"  # two cores: the smaller plans' share of a core is not what is measured
# Prints as people's models do, a line at a time; counts how long its own work took.
MODEL = """
import sys, time
RATE, COUNT = {rate}, {count}
time.sleep(0.5)
began = time.monotonic()
spent = time.process_time()
late = 0.0
for number in range(COUNT):
    if RATE and number % 100 == 0:
        left = began + number / RATE - time.monotonic()
        late = max(late, -left)
        if left > 0: time.sleep(left)
    print("line", number, "of a model that has much to say", flush=True)
took, spent = time.monotonic() - began, time.process_time() - spent
print("took %.6f late %.6f spent %.6f" % (took, late, spent), flush=True)
"""


class Printed:
    """What a script said of itself, and when its last line was on the tape."""

    def __init__(self, last: str, behind: float = 0.0) -> None:
        words = last.split()
        self.took, self.late, self.spent = (float(words[at]) for at in (1, 3, 5))
        self.behind = behind


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=300_000)
    options = parser.parse_args()
    paced = (options.rate, options.rate * options.seconds)
    free = (0, options.most)
    print("| model | lines | ours: lines/s | by hand | beside | latest | last line on the tape "
          "| lost, doubled or out of order |")  # fmt: skip
    print("|---" * 8 + "|")
    with fleet.server() as server, tempfile.TemporaryDirectory() as folder:
        _warm_up(server)
        for name, (rate, count) in {f"{options.rate:,} lines/s": paced, "no pause": free}.items():
            script = MODEL.format(rate=rate, count=count)
            ours, hand = [], []
            for _ in range(options.rounds):
                hand.append(_by_hand(script, Path(folder)))
                ours.append(_in_tapeline(server, script, count))
            _print(name, count, ours, hand)


def _print(name: str, count: int, ours: list[Printed], hand: list[Printed]) -> None:
    our_rate = count / statistics.median(one.took for one in ours)
    their_rate = count / statistics.median(one.took for one in hand)
    late = statistics.median(one.late for one in ours)
    behind = statistics.median(one.behind for one in ours)
    latest = f"{1000 * late:.0f} ms" if late else ""
    print(f"| {name} | {count:,} | {our_rate:,.0f} | {their_rate:,.0f} "
          f"| {our_rate / their_rate:.2f} | {latest} | {behind:.2f} s later | 0 |")  # fmt: skip


def _warm_up(server: Server) -> None:
    """Makes the environment: what its installation says is on a tape of its own."""
    made = server.upload("/model/deploy", server.make_model(), zipped({"main.py": "pass"}))
    fleet.wait_for(lambda: server.run(made)["ended_at"] is not None)


def _by_hand(script: str, folder: Path) -> Printed:
    file, output = folder / "main.py", folder / "output"
    file.write_text(script)
    with output.open("wb") as out:
        subprocess.run([fleet.python().path, file], stdout=out, check=True)
    return Printed(output.read_text().splitlines()[-1])


def _in_tapeline(server: Server, script: str, count: int) -> Printed:
    model = server.make_model()
    deployed = server.upload("/model/deploy", model, zipped({"main.py": script}), plan=PLAN)
    fleet.wait_for(lambda: server.run(deployed)["ended_at"] is not None, every=0.05)
    seen = time.time()
    lines = server.lines(model)
    texts = [one["body"]["line"] for one in lines]
    last = texts.pop()
    if texts != [f"line {number} of a model that has much to say" for number in range(count)]:
        raise SystemExit(f"{count:,} lines were said, {len(texts):,} are on the tape")
    return Printed(last, seen - lines[-1]["time"])


if __name__ == "__main__":
    main()
