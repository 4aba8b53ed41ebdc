"""Connections, bodies, limits and errors. Nothing here knows what a request is about."""
