"""A live model as an account: value, returns, exposure and round trips, as backtests have them."""
