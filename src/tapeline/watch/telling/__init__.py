"""Telling people of incidents: channels, and the outbox."""
