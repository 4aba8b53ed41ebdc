"""A model that does nothing but report: what each call costs it. Run by `bench.client`.

`python -m bench.parts.calls KIND SECONDS_BETWEEN CALLS`, configured by the environment.
"""

import http.client
import json
import os
import sys
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import tapeline_client as tapeline

LINE = "hello from a model that trades"


def main() -> None:
    kind, pause, calls = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    call = {"log": _log, "order": _order, "request": _request()}[kind]
    for number in range(200):
        call(-number - 1)
    taken = []
    for number in range(calls):
        if pause:
            time.sleep(pause)
        started = time.perf_counter()
        call(number)
        taken.append(time.perf_counter() - started)
    print(json.dumps(sorted(taken)))
    sys.stdout.flush()
    # What is left to send is of no interest here.
    os._exit(0)


def _log(_number: int) -> None:
    tapeline.log(LINE)


def _order(number: int) -> None:
    tapeline.limit_order("BTC-USD", "buy", 0.5, price=40_000.5, id=str(number), exchange="kraken")


def _request() -> Callable[[int], None]:
    """The plain way: one request for each event, on a connection that is kept open."""
    where = urlsplit(os.environ["TAPELINE_URL"])
    connection = http.client.HTTPConnection(where.hostname or "", where.port)
    headers = {
        "content-type": "application/json",
        "model_id": os.environ["TAPELINE_MODEL_ID"],
        "api_key": os.environ["TAPELINE_API_KEY"],
        "api_pass": os.environ["TAPELINE_API_PASS"],
    }

    def request(_number: int) -> None:
        connection.request("POST", "/v1/live/log", json.dumps({"line": LINE}), headers)
        connection.getresponse().read()

    return request


if __name__ == "__main__":
    main()
