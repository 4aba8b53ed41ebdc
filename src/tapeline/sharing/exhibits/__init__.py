"""What a link shows: a live record or a backtest, redacted field by field."""
