"""`python -m tapeline_client`: show the events queued on this machine, and send them by hand."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Iterator

from tapeline_client import config
from tapeline_client.client import Client
from tapeline_client.encoding import line as encoded
from tapeline_client.folder import left_behind
from tapeline_client.segments import numbers_in, path_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tapeline_client", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("status", help="show queued events, and those set aside")
    send = commands.add_parser("send", help="send the events of a file that was set aside")
    send.add_argument("file", help="rejected.ndjson, superseded.ndjson, or any file of events")
    options = parser.parse_args()
    return _send(options.file) if options.command == "send" else _status()


def _status() -> int:
    root = config.state_folder()
    _say(f"events wait in {root}")
    for model in sorted(os.listdir(root)) if os.path.isdir(root) else []:
        folder = os.path.join(root, model)
        size = sum(
            os.path.getsize(path_of(queue, number))
            for queue in left_behind(folder)
            for number in numbers_in(queue)
        )
        _say(f"{model}: {size:,} bytes in the queue")
        for name in sorted(os.listdir(folder)):
            if name.endswith((".ndjson", ".old")):
                path = os.path.join(folder, name)
                _say(f"  {path}: {os.path.getsize(path):,} bytes")
    return 0


def _send(file: str) -> int:
    client = Client()
    count = 0
    for path, at, body in _events(file):
        client._hand_over(encoded(path, json.dumps(at), body), False)
        count += 1
    sent = client.close(timeout=60)
    _say(f"{count:,} events {'sent' if sent else 'handed over; some wait'}")
    return 0 if sent else 1


def _events(file: str) -> Iterator[tuple[str, object, dict[str, object]]]:
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            item = item.get("event", item)
            yield item["path"], item.get("time"), item["body"]


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
