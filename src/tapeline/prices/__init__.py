"""Prices: bars and indicators for charts, kept beside the tape."""
