"""A backtest in plain pandas, reported with its equity curve and its table of trades.

    pip install pandas
    python pandas_curve.py

The server and the model come from the environment or from tapeline.json.
"""

import json

import numpy as np
import pandas as pd
import tapeline_client as tapeline
from tapeline_client.adapters import pandas as adapter

CASH = 10_000.0


def backtest():
    """Hold while the price is above its average of 50 days."""
    days = pd.date_range("2022-01-01", periods=730, tz="UTC")
    steps = np.random.default_rng(3).normal(0.0006, 0.02, len(days))
    price = pd.Series(20_000 * np.exp(steps.cumsum()), days)
    holds = (price > price.rolling(50).mean()).shift(fill_value=False)
    equity = CASH * (1 + price.pct_change().fillna(0) * holds.shift(fill_value=False)).cumprod()
    turns = holds.astype(int).diff().fillna(0)
    rows, held = [], 0.0
    for day in turns[turns != 0].index:
        held = equity[day] / price[day] if turns[day] > 0 else held
        side = "buy" if turns[day] > 0 else "sell"
        rows.append({"Date": day, "Side": side, "Quantity": held, "Price": price[day]})
    return equity, pd.DataFrame(rows)


if __name__ == "__main__":
    equity, trades = backtest()
    exposure = float((equity.diff() != 0).mean())
    name = adapter.report(equity, trades, symbol="BTC-USD", metrics={"exposure": exposure})
    assert tapeline.flush(30), "not sent yet; the next run sends it"
    gain = equity.iloc[-1] / equity.iloc[0] - 1
    print(json.dumps({"backtest_id": name, "return": gain, "trades": len(trades)}))
