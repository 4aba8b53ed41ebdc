"""Checks of what runs: models, background work, and this server itself."""
