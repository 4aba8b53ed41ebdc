"""The price source: an exchange's public candles of the symbols that models use."""
