"""Bytes and limits: connections, bodies, errors. Nothing here knows what a request is about."""
