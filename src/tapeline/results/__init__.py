"""What the tape comes to: metrics, reports of backtests, and their queries."""
