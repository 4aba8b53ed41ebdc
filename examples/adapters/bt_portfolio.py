"""Two portfolios backtested with bt, reported to Tapeline for comparison.

    pip install bt
    python bt_portfolio.py

The server and the model come from the environment or from tapeline.json.
"""

import json

import bt
import numpy as np
import pandas as pd
import tapeline_client as tapeline
from tapeline_client.adapters import bt as adapter


def prices():
    """Three years of two simulated shares and a bond."""
    days = pd.bdate_range("2021-01-04", periods=756)
    dice = np.random.default_rng(7)
    drift, noise = np.array([0.0006, 0.0004, 0.0001]), np.array([0.015, 0.011, 0.003])
    steps = drift + noise * dice.standard_normal((len(days), 3))
    return pd.DataFrame(100 * np.exp(steps.cumsum(axis=0)), days, ["AAA", "BBB", "BND"])


def portfolio(name, weigh):
    rebalance = [bt.algos.RunMonthly(), bt.algos.SelectAll(), weigh, bt.algos.Rebalance()]
    return bt.Backtest(
        bt.Strategy(name, rebalance),
        prices(),
        initial_capital=100_000,
        commissions=lambda quantity, price: abs(quantity) * price * 0.001,
    )


if __name__ == "__main__":
    weights = {"AAA": 0.3, "BBB": 0.3, "BND": 0.4}
    found = bt.run(
        portfolio("Equal", bt.algos.WeighEqually()),
        portfolio("Careful", bt.algos.WeighSpecified(**weights)),
    )
    said = {}
    for name in found.backtests:
        own = found[name].stats
        said[name] = {
            "backtest_id": adapter.report(found, name),
            "total_return": own["total_return"],
            "max_drawdown": own["max_drawdown"],
            "transactions": len(found.get_transactions(name)),
            "fees": found.backtests[name].strategy.fees.sum(),
        }
    assert tapeline.flush(30), "not sent yet; the next run sends it"
    print(json.dumps(said))
