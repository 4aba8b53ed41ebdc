"""Talking to a server: the wire, the session, and streams that are followed."""
