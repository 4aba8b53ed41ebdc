"""A backtest of backtesting.py, reported with its equity, trades, metrics and indicators.

    pip install backtesting
    python backtesting_py.py

The server and the model come from the environment or from tapeline.json.
"""

import json

import tapeline_client as tapeline
from backtesting import Backtest, Strategy
from backtesting.lib import crossover
from backtesting.test import GOOG, SMA
from tapeline_client.adapters import backtesting as adapter


class Crossing(Strategy):
    def init(self):
        self.quick = self.I(SMA, self.data.Close, 10, name="Quick")
        self.steady = self.I(SMA, self.data.Close, 30, name="Steady")

    def next(self):
        if crossover(self.quick, self.steady):
            self.buy(tag="crossed above")
        elif crossover(self.steady, self.quick):
            self.position.close()


if __name__ == "__main__":
    stats = Backtest(GOOG, Crossing, cash=10_000, commission=0.002, finalize_trades=True).run()
    name = adapter.report(stats, symbol="GOOG", description="10 and 30 days on GOOG")
    assert tapeline.flush(30), "not sent yet; the next run sends it"
    said = {key: stats[key] for key in ("Return [%]", "# Trades", "Max. Drawdown [%]")}
    print(json.dumps({"backtest_id": name, **said, "Equity Final [$]": stats["Equity Final [$]"]}))
