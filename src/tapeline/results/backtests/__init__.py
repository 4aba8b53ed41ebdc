"""Reports of backtests: made once, stored, compared, printed and exported."""
