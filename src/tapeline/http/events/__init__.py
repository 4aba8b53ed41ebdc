"""The events API, the hot path."""
