"""The way back: channels, orders and backtests as they stand. Nothing is written here."""
