"""Prices over HTTP: bars and indicators in, one answer for each chart out."""
