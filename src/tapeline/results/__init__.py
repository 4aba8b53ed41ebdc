"""What the tape comes to: profit and loss, metrics, reports of backtests, and their queries."""
