"""Results of backtests: checked, cut into pieces, staged, and read by index."""
