"""Metrics: one row of a table each, and the arithmetic behind them. No store here."""
