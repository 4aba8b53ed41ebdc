"""A model that trades, and every page that shows something of it."""

from dataclasses import dataclass

from tests.acceptance.traders import Trader
from tests.e2e.backtesting import Candidate

TRADING = """
import json, os, time, urllib.request

def backtest(days=30, fast=5):
    print("testing", days, fast, flush=True)
    day, start = 86400, 1640995200
    trades = [{"symbol": "BTC-USD", "side": "buy" if n % 2 == 0 else "sell", "price": 100.0 + n,
               "time": start + day * n, "size": 3.219876, "fee": 0.1} for n in range(0, days, 3)]
    return {"symbols": ["BTC-USD"], "quote_asset": "USD", "start_time": start,
            "stop_time": start + day * days, "trades": trades, "metrics": {}, "indicators": {},
            "account_values": [{"time": start + day * n, "value": 1000.0 + fast * n + n % 7}
                               for n in range(days)]}

def push(path, body):
    headers = {"Content-Type": "application/json", "model_id": os.environ["TAPELINE_MODEL_ID"],
        "api_key": os.environ["TAPELINE_API_KEY"], "api_pass": os.environ["TAPELINE_API_PASS"]}
    address = os.environ["TAPELINE_URL"] + path
    urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers))

def trade():
    push("/v1/model/used-symbol", {"symbol": "BTC-USD"})
    for tick in range(100000):
        print("tick", tick, flush=True)
        if tick < 6:
            side = "buy" if tick % 2 == 0 else "sell"
            push("/v1/live/spot-limit", {"id": str(tick), "symbol": "BTC-USD", "side": side,
                "exchange": "simulated", "size": 7.654321, "price": 100 + 3 * tick,
                "annotation": "crossed"})
        time.sleep(0.5)

if __name__ == "__main__":
    trade()
"""


@dataclass(frozen=True)
class Stage:
    """A trader with a model that trades, its backtests, and links to them."""

    trader: Trader
    candidate: Candidate
    links: dict[str, str]

    @property
    def project(self) -> str:
        return str(self.trader.user_id)

    @property
    def model(self) -> str:
        return self.candidate.id


def pages_of(stage: Stage) -> dict[str, dict[str, str]]:
    """Every page, and the words that say that it has loaded."""
    project, own, links = stage.project, f"/{stage.project}/{stage.model}", stage.links
    return {
        "app": {
            f"{own}/overview": "Newest orders",
            f"{own}/prices": "A line of marks and fills",
            f"{own}/orders": "Annotation",
            f"{own}/trades": "Distribution of results",
            f"{own}/logs": "Jump to",
            f"{own}/events": "No events",
            f"{own}/versions": "No description",
            f"{own}/settings": "No secrets yet",
            f"{own}/backtests": "Second try",
            f"{own}/first/backtest": "Skill or luck",
            f"{own}/backtests/compare?ids=first,second": "Compare 2 backtests",
            f"{own}/nothing": "Page not found",
            f"/{project}": "One",
            f"/{project}/portfolio": "No account value yet",
            f"/{project}/deploy": "Drop a zip",
            f"/{project}/members": "No open invitations",
            f"/{project}/keys": "Keys in use",
            f"/{project}/audit": "model created",
            f"/{project}/settings": "Project settings",
            "/account": "this browser",
            "/new-project": "New project",
        },
        "forms": {
            "/settings": "Current password",
            "/deploy": "Approve the command line?",
        },
        "shared": {
            f"/s/{links['live']}": "Check this record",
            f"/s/{links['tested']}": "Its results are hypothetical",
            f"/s/{links['hidden']}": "symbols and prices",
            f"/s/{links['locked']}": "This link needs a password",
            "/s/nothing": "This link does not work",
            f"/embed/{links['live']}": "check it on Tapeline",
            f"/embed/{links['locked']}": "This record has a password",
        },
    }
